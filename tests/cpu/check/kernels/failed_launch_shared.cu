// A launch with 64 KB of shared memory fails without cudaFuncSetAttribute(); the next launch succeeds.
#include <cuda_runtime.h>

__global__ void tile_kernel(float* x) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void scale_kernel(float* x, const float* factor) { x[threadIdx.x] = 2 * factor[0]; }

int main() {
    float *x, *factor;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMalloc(&factor, sizeof(float));
    cudaMemset(factor, 0, sizeof(float));
    tile_kernel<<<1, 256, 64 * 1024>>>(x);  //! failed_launch
    scale_kernel<<<1, 256>>>(x, factor);
    return cudaDeviceSynchronize() != cudaSuccess;
}
