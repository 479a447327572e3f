// Fences around an atomic on a word that only one thread uses: no other thread reads it, so it orders nothing.
#include <cuda_runtime.h>

__device__ int own[64];

__global__ void sum_kernel(const int* x, int* total) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    __threadfence_block();
    atomicAdd(&own[threadIdx.x], 1);
    __threadfence_block();
    sum += x[threadIdx.x];  //! race
    __syncthreads();
    if (threadIdx.x == 0) *total = sum;
}

int main() {
    int *x, *total;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(x, 1, 64 * sizeof(int));
    sum_kernel<<<1, 64>>>(x, total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
