// A block reads shared memory that only another block wrote.
#include <cuda_runtime.h>

__global__ void first_block_kernel(int* out) {
    __shared__ int values[32];
    if (blockIdx.x == 0) values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int value = values[31 - threadIdx.x];  //! uninitialised
    out[blockIdx.x * 32 + threadIdx.x] = value;
}

int main() {
    int* out;
    cudaMalloc(&out, 4 * 32 * sizeof(int));
    first_block_kernel<<<4, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
