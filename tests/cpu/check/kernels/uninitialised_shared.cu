// Only even threads write what all threads read.
#include <cuda_runtime.h>

__global__ void half_kernel(int* out) {
    __shared__ int values[64];
    if (threadIdx.x % 2 == 0) values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int value = values[63 - threadIdx.x];  //! uninitialised
    out[threadIdx.x] = value;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    half_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
