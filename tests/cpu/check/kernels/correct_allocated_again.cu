// Memory is freed and allocated again with a different size, perhaps at the same address.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill_kernel(int* x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add_kernel(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x]++; }

int main() {
    int sum = 0;
    for (int blocks = 1; blocks < 6; blocks++) {
        int last, *x;
        cudaMalloc(&x, blocks * 64 * sizeof(int));
        fill_kernel<<<blocks, 64>>>(x, blocks);
        add_kernel<<<blocks, 64>>>(x);
        cudaMemcpy(&last, x + blocks * 64 - 1, sizeof(int), cudaMemcpyDeviceToHost);
        cudaFree(x);
        sum += last;
    }
    bool right = sum == 20;
    puts(right ? "ok" : "wrong");
    return !right;
}
