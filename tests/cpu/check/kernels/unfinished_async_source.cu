// Kernels overwrite the source of an asynchronous copy without waiting for the copy.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void primitives_kernel(int* x, int* y) {
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int));  //! unfinished
    __pipeline_commit();
    x[threadIdx.x] = 0;  //! unfinished
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void group_kernel(int* x, int* y) {
    __shared__ int tile[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, sizeof tile);  //! unfinished
    block.sync();
    atomicAdd(&x[63 - threadIdx.x], 1);  //! unfinished
    cg::wait(block);
    y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void pipeline_kernel(int* x, int* y) {
    __shared__ int tile[2][64];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; ++i) {
        cuda::memcpy_async(&tile[i][threadIdx.x], &x[i * 64 + threadIdx.x], sizeof(int), pipe);  //! unfinished
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    x[threadIdx.x] = 1;
    x[64 + threadIdx.x] = 1;  //! unfinished
    pipe.consumer_wait();
    y[threadIdx.x] = tile[0][threadIdx.x] + tile[1][threadIdx.x];
}

__global__ void barrier_kernel(int* x, int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[64];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    if (threadIdx.x == 0) cuda::memcpy_async(tile, x, sizeof tile, barrier);  //! unfinished
    __syncthreads();
    x[threadIdx.x] = 2;  //! unfinished
    barrier.arrive_and_wait();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 128 * sizeof(int));
    cudaMalloc(&y, 64 * sizeof(int));
    cudaMemset(x, 0, 128 * sizeof(int));
    primitives_kernel<<<1, 64>>>(x, y);
    group_kernel<<<1, 64>>>(x, y);
    pipeline_kernel<<<1, 64>>>(x, y);
    barrier_kernel<<<1, 64>>>(x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
