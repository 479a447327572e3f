// The last thread reads the element after a static shared array.
#include <cuda_runtime.h>

__global__ void neighbour_kernel(int* out) {
    __shared__ int other[64];
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    other[threadIdx.x] = 2 * threadIdx.x;
    __syncthreads();
    int next = values[threadIdx.x + 1];  //! out_of_bounds
    out[threadIdx.x] = next + other[63 - threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    neighbour_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
