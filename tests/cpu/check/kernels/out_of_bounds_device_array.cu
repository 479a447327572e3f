// A __device__ array is one element too short for the threads.
#include <cuda_runtime.h>

__device__ int before[16], table[31], after[16];

__global__ void fill_kernel() {
    table[threadIdx.x] = threadIdx.x;  //! out_of_bounds
}

int main() {
    fill_kernel<<<1, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
