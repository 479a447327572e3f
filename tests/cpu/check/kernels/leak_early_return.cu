// If there is nothing to do, a function returns before it frees its memory.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] *= 2;
}

void scale(float* host, int n) {
    float* x;
    cudaMalloc(&x, 64 * sizeof(float));  //! leak
    if (n == 0) return;
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
    scale_kernel<<<1, 64>>>(x, n);
    cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
}

int main() {
    float values[32] = {};
    scale(values, 32);
    scale(values, 0);
    return cudaDeviceReset() != cudaSuccess;
}
