// Warps of a block, then all its threads, take the same lock around plain data.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int lock, sum, count;

__device__ void add(int value) {
    __threadfence();
    sum += value;
    count++;
    __threadfence();
    atomicExch(&lock, 0);
}

__global__ void add_kernel() {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        add(1);
    }
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            add(2);
            done = true;
        }
    }
}

int main() {
    int results[2];
    add_kernel<<<4, 64>>>();
    cudaMemcpyFromSymbol(&results[0], sum, sizeof(int));
    cudaMemcpyFromSymbol(&results[1], count, sizeof(int));
    bool right = results[0] == 8 + 2 * 256 && results[1] == 8 + 256;
    puts(right ? "ok" : "wrong");
    return !right;
}
