#include <cub/cub.cuh>

#include "labs/dot_product/lab.h"

struct Sum {
    __device__ __forceinline__ int operator()(const int& a, const int& b) const { return a + b; }
};

template <int BLOCK_THREADS, int ITEMS_PER_THREAD>
__global__ void BlockDotKernel(const int* d_a, const int* d_b, int* d_out, std::size_t n) {
    using BlockLoadT = cub::BlockLoad<int, BLOCK_THREADS, ITEMS_PER_THREAD, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using BlockReduceT = cub::BlockReduce<int, BLOCK_THREADS, cub::BLOCK_REDUCE_RAKING>;
    __shared__ union {
        typename BlockLoadT::TempStorage load;
        typename BlockReduceT::TempStorage reduce;
    } temp_storage;

    constexpr int TILE = BLOCK_THREADS * ITEMS_PER_THREAD;
    const std::size_t offset = blockIdx.x * std::size_t(TILE);
    const int valid = n - offset < TILE ? int(n - offset) : TILE;
    int x[ITEMS_PER_THREAD], y[ITEMS_PER_THREAD];
    BlockLoadT(temp_storage.load).Load(d_a + offset, x, valid, 0);
    __syncthreads();
    BlockLoadT(temp_storage.load).Load(d_b + offset, y, valid, 0);
    __syncthreads();
    int thread_total = 0;
#pragma unroll
    for (int i = 0; i < ITEMS_PER_THREAD; i++) thread_total += x[i] * y[i];
    int aggregate = BlockReduceT(temp_storage.reduce).Reduce(thread_total, Sum());
    if (threadIdx.x == 0) atomicAdd(d_out, aggregate);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    constexpr int threads = 128, items = 4;
    BlockDotKernel<threads, items><<<unsigned((n + threads * items - 1) / (threads * items)), threads>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
