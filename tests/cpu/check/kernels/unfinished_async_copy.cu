// Kernels read the result of an asynchronous copy without waiting for the copy: a barrier alone does not wait.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>

namespace cg = cooperative_groups;

__global__ void group_kernel(const int* x, int* y) {
    __shared__ int tile[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, sizeof tile);  //! unfinished
    block.sync();
    y[threadIdx.x] = tile[63 - threadIdx.x];  //! unfinished
    cg::wait(block);
}

__global__ void pipeline_kernel(const int* x, int* y) {
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int));  //! unfinished
    __pipeline_commit();
    y[threadIdx.x] = tile[threadIdx.x];  //! unfinished
}

__global__ void wrong_count_kernel(const int* x, int* y) {
    __shared__ int tiles[2][64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tiles[0], x, sizeof tiles[0]);
    cg::memcpy_async(block, tiles[1], x, sizeof tiles[1]);  //! unfinished
    cg::wait_prior<1>(block);
    y[threadIdx.x] = tiles[0][63 - threadIdx.x] + tiles[1][63 - threadIdx.x];  //! unfinished
    cg::wait(block);
}

__global__ void barrier_kernel(const int* x, int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[64];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), tile, x, sizeof tile, barrier);  //! unfinished
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];  //! unfinished
    barrier.arrive_and_wait();
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&y, 64 * sizeof(int));
    cudaMemset(x, 0, 64 * sizeof(int));
    group_kernel<<<1, 64>>>(x, y);
    pipeline_kernel<<<1, 64>>>(x, y);
    wrong_count_kernel<<<1, 64>>>(x, y);
    barrier_kernel<<<1, 64>>>(x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
