// A running sum over blocks in the order of a counter: each block reads the sum of the block before it from one
// volatile word, which holds the value and the flag. No other memory depends on it, so it needs no fence.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned next_block;

__global__ void scan_kernel(volatile unsigned long long* sums) {
    if (threadIdx.x > 0) return;
    const unsigned own = atomicAdd(&next_block, 1u);
    unsigned long long before = own == 0 ? 1ull << 63 : 0;
    while (!(before >> 63)) before = sums[own - 1];
    sums[own] = before + own + 1;
}

int main() {
    unsigned long long host[16], *sums;
    cudaMalloc(&sums, sizeof host);
    cudaMemset(sums, 0, sizeof host);
    scan_kernel<<<16, 32>>>(sums);
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    puts((host[15] & ~(1ull << 63)) == 136 ? "ok" : "wrong");
    cudaFree(sums);
}
