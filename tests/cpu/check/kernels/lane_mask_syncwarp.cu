// __syncwarp with a mask of lanes 0 to 15, called by all.
#include <cuda_runtime.h>

__global__ void exchange_kernel(int* out) {
    __shared__ int values[32];
    values[threadIdx.x] = threadIdx.x;
    __syncwarp(0xffff);  //! lane_mask
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    exchange_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
