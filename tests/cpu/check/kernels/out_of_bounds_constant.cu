// The kernel reads one weight more than the constant array has.
#include <cuda_runtime.h>

__constant__ float weights[5];

__global__ void weigh_kernel(const float* x, float* out, int taps) {
    float sum = 0;
    for (int k = 0; k < taps; k++) {
        sum += weights[k] * x[threadIdx.x];  //! out_of_bounds
    }
    out[threadIdx.x] = sum;
}

int main() {
    const float values[5] = {1, 2, 3, 2, 1};
    cudaMemcpyToSymbol(weights, values, sizeof(values));
    float *x, *out;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
    weigh_kernel<<<1, 32>>>(x, out, 6);
    return cudaDeviceSynchronize() != cudaSuccess;
}
