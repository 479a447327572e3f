// One thread writes a word once; all threads read it in each of 70,000 rounds with a barrier.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void count_kernel(int* total) {
    __shared__ int step;
    if (threadIdx.x == 0) step = 1;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 70000; ++k) {
        sum += step;
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = sum;
}

int main() {
    int host, *total;
    cudaMalloc(&total, sizeof(int));
    count_kernel<<<1, 2>>>(total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 70000 ? "ok" : "wrong");
    cudaFree(total);
}
