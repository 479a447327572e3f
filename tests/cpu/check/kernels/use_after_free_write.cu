// The first launch is right, but the second comes after cudaFree.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* out, float value) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;  //! use_after_free
}

int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    fill_kernel<<<4, 64>>>(out, 1);
    cudaFree(out);
    fill_kernel<<<4, 64>>>(out, 2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
