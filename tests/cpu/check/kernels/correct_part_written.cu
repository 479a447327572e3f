// Only a part of a buffer is written and read; the copy to the host includes the rest.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void even_kernel(int* x) {
    if (threadIdx.x % 2 == 0) x[threadIdx.x] = threadIdx.x;
}

__global__ void sum_kernel(const int* x, int* total) {
    __shared__ int values[32][33];
    if (threadIdx.x % 2 == 0) values[threadIdx.x][32] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x % 2 == 0) atomicAdd(total, values[30 - threadIdx.x][32]);
}

int main() {
    int host[32], sum, *x, *total;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    even_kernel<<<1, 32>>>(x);
    sum_kernel<<<1, 32>>>(x, total);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    bool right = sum == 240 && host[30] == 30;
    puts(right ? "ok" : "wrong");
    return !right;
}
