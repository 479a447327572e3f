// Each half of a warp synchronizes only with itself, then reads the other half's words.
#include <cuda_runtime.h>

__global__ void swap_kernel(int* x) {
    __shared__ int s[32];
    const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = x[threadIdx.x];  //! race
    __syncwarp(half);
    x[threadIdx.x] = s[threadIdx.x ^ 16];  //! race
}

int main() {
    int* x;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    swap_kernel<<<1, 32>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
