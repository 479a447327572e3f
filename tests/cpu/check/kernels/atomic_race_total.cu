// Thread 0 stores the block's sum before the other warps have added to it.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* x, int* sums) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);  //! atomic_race
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;               //! atomic_race
}

int main() {
    int *x, *sums;
    cudaMalloc(&x, 512 * sizeof(int));
    cudaMalloc(&sums, 4 * sizeof(int));
    cudaMemset(x, 0, 512 * sizeof(int));
    sum_kernel<<<4, 128>>>(x, sums);
    return cudaDeviceSynchronize() != cudaSuccess;
}
