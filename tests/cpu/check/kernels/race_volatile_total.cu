// Blocks add to a volatile total: each addition is a read and a write, not one step.
#include <cuda_runtime.h>

__global__ void sum_kernel(volatile int* total) {
    if (threadIdx.x == 0) *total = *total + blockIdx.x + 1;  //! race
}

int main() {
    int* total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<8, 32>>>(total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
