// Blocks meet in grid.sync(); then each reads what others wrote, and the shared memory that it wrote before.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void rotate_kernel(int* values, int* out) {
    __shared__ int own[32];
    const int t = threadIdx.x, n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + t;
    own[t] = i;
    __syncthreads();
    values[i] = own[31 - t];
    cg::this_grid().sync();
    const int other = values[(i + 32) % n];
    cg::this_grid().sync();
    values[i] = other + own[t];
    cg::this_grid().sync();
    out[i] = values[(i + n - 32) % n];
}

int main() {
    int host[128], *values, *out, wrong = 0;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&out, sizeof host);
    void* arguments[] = {&values, &out};
    cudaLaunchCooperativeKernel(rotate_kernel, dim3(4), dim3(32), arguments, 0, nullptr);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; ++i) {
        const int from = (i + 96) % 128, block = i / 32;
        wrong += host[i] != block * 32 + 31 - i % 32 + from;
    }
    puts(wrong ? "wrong" : "ok");
    cudaFree(values);
    cudaFree(out);
}
