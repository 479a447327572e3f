// The total that all blocks add to is not set to zero.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* total) {
    atomicAdd(total, 1.5f);  //! uninitialised
}

int main() {
    float* total;
    cudaMalloc(&total, sizeof(float));
    sum_kernel<<<4, 32>>>(total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
