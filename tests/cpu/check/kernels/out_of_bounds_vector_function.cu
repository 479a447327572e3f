// The vector that a function returns is stored one vector past the end.
#include <cuda_runtime.h>

__device__ float4 same(float x) { return make_float4(x, x, x, x); }

__global__ void fill_kernel(float4* out) {
    out[threadIdx.x + 1] = same(threadIdx.x);  //! out_of_bounds
}

int main() {
    float4* out;
    cudaMalloc(&out, 32 * sizeof(float4));
    fill_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
