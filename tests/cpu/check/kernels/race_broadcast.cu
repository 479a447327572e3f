// All threads read one element, and the last one then changes it without a barrier in between.
#include <cuda_runtime.h>

__global__ void normalise_kernel(float* x) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = 2;
    __syncthreads();
    x[threadIdx.x] *= scale;                       //! race
    if (threadIdx.x == blockDim.x - 1) scale = 3;  //! race
    __syncthreads();
    x[threadIdx.x] += scale;
}

int main() {
    float* x;
    cudaMalloc(&x, 96 * sizeof(float));
    cudaMemset(x, 0, 96 * sizeof(float));
    normalise_kernel<<<1, 96>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
