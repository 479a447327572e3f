// Block 0 clears the sum and then executes a fence, which orders nothing for blocks that do not wait for it.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* values, int* sum) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *sum = 0;  //! atomic_race
        __threadfence();
    }
    __syncthreads();
    atomicAdd(sum, values[blockIdx.x * 32 + threadIdx.x]);  //! atomic_race
}

int main() {
    int *values, *sum;
    cudaMalloc(&values, 128 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(values, 0, 128 * sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    sum_kernel<<<4, 32>>>(values, sum);
    return cudaDeviceSynchronize() != cudaSuccess;
}
