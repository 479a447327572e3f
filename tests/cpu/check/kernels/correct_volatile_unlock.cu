// A lock that is acquired by a compare-and-swap and released by a volatile store after a fence.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int lock;

__global__ void sum_kernel(int* total) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *total += 2;
    __threadfence();
    *static_cast<volatile int*>(&lock) = 0;
}

int main() {
    int host, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<8, 32>>>(total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 16 ? "ok" : "wrong");
    cudaFree(total);
}
