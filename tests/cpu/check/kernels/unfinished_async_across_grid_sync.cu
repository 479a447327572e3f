// Blocks use the results of asynchronous copies, or overwrite their sources, after grid.sync(), which does not wait.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void read_kernel(const int* x, int* y) {
    __shared__ int tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int));  //! unfinished
    __pipeline_commit();
    cg::this_grid().sync();
    y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];  //! unfinished
    __pipeline_wait_prior(0);
}

__global__ void write_kernel(int* x, int* y) {
    __shared__ int tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], sizeof(int));  //! unfinished
    __pipeline_commit();
    cg::this_grid().sync();
    x[i] = 0;  //! unfinished
    __pipeline_wait_prior(0);
    y[i] = tile[threadIdx.x];
}

__global__ void wait_kernel(const int* x, int* y) {  // correct: each block waits for its own copies
    __shared__ int tiles[2][64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    for (int stage = 0; stage < 2; ++stage) {
        __pipeline_memcpy_async(&tiles[stage][threadIdx.x], &x[i], sizeof(int));
        __pipeline_commit();
    }
    cg::this_grid().sync();
    __pipeline_wait_prior(1);
    y[i] = tiles[0][threadIdx.x];
    cg::this_grid().sync();
    __pipeline_wait_prior(0);
    y[i] += tiles[1][threadIdx.x];
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    void* arguments[] = {&x, &y};
    cudaLaunchCooperativeKernel((void*)read_kernel, dim3(4), dim3(64), arguments, 0, 0);
    cudaLaunchCooperativeKernel((void*)write_kernel, dim3(4), dim3(64), arguments, 0, 0);
    cudaLaunchCooperativeKernel((void*)wait_kernel, dim3(4), dim3(64), arguments, 0, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
