// A single thread calls warp functions: the others have ended, or the mask does not name them.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void count_kernel(int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) __syncwarp(1u);
    if (i >= n) return;
    unsigned here = __activemask();
    if (__popc(here) == __popc(__ballot_sync(here, true))) atomicAdd(&counts[blockIdx.x], 1);
    __syncwarp();
}

int main() {
    int *counts, results[2];
    cudaMalloc(&counts, sizeof(results));
    cudaMemset(counts, 0, sizeof(results));
    count_kernel<<<2, 64>>>(counts, 65);
    cudaMemcpy(results, counts, sizeof(results), cudaMemcpyDeviceToHost);
    bool right = results[0] == 64 && results[1] == 1;
    puts(right ? "ok" : "wrong");
    cudaFree(counts);
    return !right;
}
