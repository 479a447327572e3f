// The first thread reads the element before the first.
#include <cuda_runtime.h>

__global__ void difference_kernel(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = x[i - 1];  //! out_of_bounds
    out[i] = x[i] - left;
}

int main() {
    const int n = 300;
    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    difference_kernel<<<3, 128>>>(x, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
