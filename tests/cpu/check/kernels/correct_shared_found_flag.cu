// The threads of a block search for a number together until one has found it. They share only the volatile flag.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void find_kernel(const int* items, int n, int key, int* result) {
    __shared__ volatile int found;
    if (threadIdx.x == 0) found = -1;
    __syncthreads();
    for (int i = threadIdx.x; i < n && found < 0; i += blockDim.x)
        if (items[i] == key) found = i;
    __syncthreads();
    if (threadIdx.x == 0) *result = found;
}

int main() {
    int items[1000], *d_items, *d_result, host;
    for (int i = 0; i < 1000; ++i) items[i] = 3 * i;
    cudaMalloc(&d_items, sizeof items);
    cudaMalloc(&d_result, sizeof(int));
    cudaMemcpy(d_items, items, sizeof items, cudaMemcpyHostToDevice);
    find_kernel<<<1, 64>>>(d_items, 1000, 3 * 500, d_result);
    cudaMemcpy(&host, d_result, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 500 ? "ok" : "wrong");
    cudaFree(d_items);
    cudaFree(d_result);
}
