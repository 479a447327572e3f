// Six floats are not two float4: the second ends beyond the array.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float4* x, float4* out) {
    float4 four = x[threadIdx.x];  //! out_of_bounds
    out[threadIdx.x] = four;
}

int main() {
    float *x, *out;
    cudaMalloc(&x, 6 * sizeof(float));
    cudaMalloc(&out, 8 * sizeof(float));
    cudaMemset(x, 0, 6 * sizeof(float));
    copy_kernel<<<1, 2>>>(reinterpret_cast<float4*>(x), reinterpret_cast<float4*>(out));
    return cudaDeviceSynchronize() != cudaSuccess;
}
