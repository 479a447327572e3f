// Kernels read what an asynchronous copy reads before they have waited for the copy, and overwrite it only afterwards.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void primitives_kernel(int* x, int* sum) {
    __shared__ int tiles[2][64];
    const int here = blockIdx.x * 128 + threadIdx.x;
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(&tiles[i][threadIdx.x], &x[here + i * 64], sizeof(int));
        __pipeline_commit();
    }
    int mine = x[here + 64];
    __pipeline_wait_prior(1);
    x[here] = 5;
    mine += tiles[0][threadIdx.x];
    __pipeline_wait_prior(0);
    x[here + 64] = 5;
    atomicAdd(sum, mine + tiles[1][threadIdx.x]);
}

__global__ void padded_kernel(int* x, int* sum) {
    __shared__ int4 tile[16];
    int4* const from = reinterpret_cast<int4*>(x + blockIdx.x * 128);
    if (threadIdx.x < 16) {
        __pipeline_memcpy_async(&tile[threadIdx.x], &from[2 * threadIdx.x], 16, 12);  // one int and zeros
        __pipeline_commit();
        from[2 * threadIdx.x].y = 0;
        from[2 * threadIdx.x + 1].x = 0;
        __pipeline_wait_prior(0);
        atomicAdd(sum, tile[threadIdx.x].x + tile[threadIdx.x].w);
    }
}

__global__ void group_kernel(int* x, int* sum) {
    __shared__ int tile[128];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x + blockIdx.x * 128, sizeof tile);
    cg::wait(block);
    x[blockIdx.x * 128 + 127 - threadIdx.x] = 0;
    atomicAdd(sum, tile[threadIdx.x] + tile[64 + threadIdx.x]);
}

int main() {
    constexpr int n = 256;
    int *x, *sum, values[n], result = 0;
    for (int& value : values) value = 1;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    for (const auto kernel : {primitives_kernel, padded_kernel, group_kernel}) {
        cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
        kernel<<<2, 64>>>(x, sum);
    }
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(sum);
    std::puts(result == 2 * (3 * 64 + 16 + 128) ? "ok" : "wrong");
}
