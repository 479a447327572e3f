// Each block adds to a total without an atomic; the fence and the atomic before the addition do not order it.
#include <cuda_runtime.h>

__device__ int arrivals;

__global__ void sum_kernel(int* total) {
    __threadfence();
    if (threadIdx.x > 0) return;
    atomicAdd(&arrivals, 1);
    *total += blockIdx.x + 1;  //! race
}

int main() {
    int* total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<8, 32>>>(total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
