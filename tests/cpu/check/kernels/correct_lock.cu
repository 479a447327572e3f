// A lock of atomicCAS and __threadfence guards plain data of all blocks.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int lock, sum, count;

__global__ void add_kernel() {
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    sum += blockIdx.x;
    count++;
    __threadfence();
    atomicExch(&lock, 0);
}

int main() {
    int results[2];
    add_kernel<<<20, 32>>>();
    cudaMemcpyFromSymbol(&results[0], sum, sizeof(int));
    cudaMemcpyFromSymbol(&results[1], count, sizeof(int));
    bool right = results[0] == 190 && results[1] == 20;
    puts(right ? "ok" : "wrong");
    return !right;
}
