// The output is added to, but was never set to zero.
#include <cuda_runtime.h>

__global__ void axpy_kernel(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += 2 * x[i];  //! uninitialised
}

int main() {
    float *x, *y;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMalloc(&y, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    axpy_kernel<<<2, 128>>>(x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
