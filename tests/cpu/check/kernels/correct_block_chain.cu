// Each block polls the flag of the block before it by an atomic, and then reads that block's prefix.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void chain_kernel(int* prefixes, int* ready) {
    if (threadIdx.x > 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {
        }
        __threadfence();
        before = prefixes[blockIdx.x - 1];
    }
    prefixes[blockIdx.x] = before + blockIdx.x;
    __threadfence();
    atomicExch(&ready[blockIdx.x], 1);
}

int main() {
    int host[16], *prefixes, *ready;
    cudaMalloc(&prefixes, sizeof(host));
    cudaMalloc(&ready, sizeof(host));
    cudaMemset(ready, 0, sizeof(host));
    chain_kernel<<<16, 32>>>(prefixes, ready);
    cudaMemcpy(host, prefixes, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[15] == 120;
    puts(right ? "ok" : "wrong");
    return !right;
}
