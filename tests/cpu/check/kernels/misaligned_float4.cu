// A float4 is read from an address that is aligned for a float only.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float4* out) {
    float4 four = *reinterpret_cast<const float4*>(x + 1);  //! misaligned
    out[threadIdx.x] = four;
}

int main() {
    float* x;
    float4* out;
    cudaMalloc(&x, 8 * sizeof(float));
    cudaMalloc(&out, sizeof(float4));
    cudaMemset(x, 0, 8 * sizeof(float));
    copy_kernel<<<1, 1>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
