// Vectors in shared arrays whose types need less alignment: where such an array begins depends on the arrays before it.
#include <cuda_runtime.h>

__shared__ short odd[3];

__global__ void bytes_kernel(int2* out) {
    __shared__ char first[1027], second[1029];
    for (int k = 0; k < 8; ++k) first[8 * threadIdx.x + k] = second[8 * threadIdx.x + k] = 1;
    __syncthreads();
    out[threadIdx.x] = *reinterpret_cast<int2*>(first + 8 * threadIdx.x);
    out[threadIdx.x] = *reinterpret_cast<int2*>(second + 8 * threadIdx.x);  //! misaligned
}

__global__ void flag_kernel(float4* out) {
    __shared__ int flag;
    __shared__ float tile[256];
    if (threadIdx.x == 0) flag = 1;
    reinterpret_cast<float4*>(tile)[threadIdx.x] = {};  //! misaligned
    __syncthreads();
    out[threadIdx.x].x = tile[threadIdx.x] + flag;
}

__global__ void file_kernel(int* out) {
    __shared__ __align__(2) char raw[256];
    if (threadIdx.x == 0) odd[0] = 1;
    raw[threadIdx.x] = raw[threadIdx.x + 64] = raw[threadIdx.x + 128] = raw[threadIdx.x + 192] = 1;
    __syncthreads();
    out[threadIdx.x] = odd[0] + *reinterpret_cast<int*>(raw + 4 * threadIdx.x);  //! misaligned
}

int main() {
    float4* out;
    cudaMalloc(&out, 64 * sizeof(float4));
    bytes_kernel<<<1, 64>>>(reinterpret_cast<int2*>(out));
    flag_kernel<<<1, 64>>>(out);
    file_kernel<<<1, 64>>>(reinterpret_cast<int*>(out));
    return cudaDeviceSynchronize() != cudaSuccess;
}
