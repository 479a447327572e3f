// Block 0 sets the total to zero, while other blocks may already add to it.
#include <cuda_runtime.h>

__global__ void sum_kernel(int* total) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *total = 0;  //! atomic_race
    __syncthreads();
    atomicAdd(total, int(threadIdx.x));  //! atomic_race
}

int main() {
    int* total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<4, 64>>>(total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
