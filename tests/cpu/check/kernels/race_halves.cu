// A barrier is missing between halves that are written as pairs and those that are read one by one.
#include <cuda_fp16.h>

__global__ void mirror_kernel(const half2* in, half* out) {
    __shared__ half tile[128];
    reinterpret_cast<half2*>(tile)[threadIdx.x] = __hneg2(in[threadIdx.x]);  //! race
    out[threadIdx.x] = tile[127 - threadIdx.x];                              //! race
}

int main() {
    half2* in;
    half* out;
    cudaMalloc(&in, 64 * sizeof(half2));
    cudaMalloc(&out, 64 * sizeof(half));
    cudaMemset(in, 0, 64 * sizeof(half2));
    mirror_kernel<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
