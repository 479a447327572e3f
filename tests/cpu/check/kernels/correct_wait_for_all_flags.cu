// Each block waits for the flags of all blocks before it; the last waits for a single flag, and reads everything.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void chain_kernel(int* values, int* flags, int* total, bool backward) {
    if (threadIdx.x > 0) return;
    const int n = gridDim.x, block = backward ? n - 1 - blockIdx.x : blockIdx.x;
    for (int i = block == n - 1 ? n - 2 : 0; i < block; ++i)
        while (atomicAdd(&flags[i], 0) == 0) {
        }
    __threadfence();
    values[block] = 1;
    if (block == n - 1) {
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += values[i];
        *total = sum;
    }
    __threadfence();
    atomicExch(&flags[block], 1);
}

int main() {
    int host, *values, *flags, *total;
    cudaMalloc(&values, 16 * sizeof(int));
    cudaMalloc(&flags, 16 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(flags, 0, 16 * sizeof(int));
    chain_kernel<<<16, 32>>>(values, flags, total, getenv("BACKWARD") != nullptr);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 16 ? "ok" : "wrong");
    cudaFree(values);
    cudaFree(flags);
    cudaFree(total);
}
