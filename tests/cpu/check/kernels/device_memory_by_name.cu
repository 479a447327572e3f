// The host assigns to constants by name, before it has called any function of CUDA.
#include <cuda_runtime.h>

__constant__ float weights[5];

__global__ void weigh_kernel(const float* x, float* out) {
    out[threadIdx.x] = weights[threadIdx.x % 5] * x[threadIdx.x];
}

int main() {
    for (int i = 0; i < 5; i++) weights[i] = 0.2f * i;  //! device_memory
    float *x, *out;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
    weigh_kernel<<<1, 32>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
