// The race is between two device functions that are called one after the other.
#include <cuda_runtime.h>

__device__ void put(float* values, float value) {
    values[threadIdx.x] = value;  //! race
}

__device__ float get(const float* values) {
    return values[blockDim.x - 1 - threadIdx.x];  //! race
}

__global__ void mirror_kernel(float* out) {
    __shared__ float values[64];
    put(values, 0.25f * threadIdx.x);
    float other = get(values);
    out[threadIdx.x] = other;
}

int main() {
    float* out;
    cudaMalloc(&out, 64 * sizeof(float));
    mirror_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
