// A counter is freed before the kernel that counts with it.
#include <cuda_runtime.h>

__global__ void count_kernel(int* counter) {
    atomicAdd(counter, 1);  //! use_after_free
}

int main() {
    int* counter;
    cudaMalloc(&counter, sizeof(int));
    cudaMemset(counter, 0, sizeof(int));
    cudaFree(counter);
    count_kernel<<<2, 32>>>(counter);
    return cudaDeviceSynchronize() != cudaSuccess;
}
