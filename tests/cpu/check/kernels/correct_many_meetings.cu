// In each of 300 blocks, one thread writes a word once, and its warp reads it in 300 rounds of __syncwarp().
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_kernel(int* total) {
    __shared__ int rounds, s[32];
    if (threadIdx.x == 0) rounds = 300;
    __syncwarp();
    int sum = 0;
    for (int k = 0; k < rounds; ++k) {
        s[threadIdx.x] = k;
        __syncwarp();
        sum += s[threadIdx.x ^ 1] == k;
        __syncwarp();
    }
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

int main() {
    int host, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<300, 32>>>(total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 90000 ? "ok" : "wrong");
    cudaFree(total);
}
