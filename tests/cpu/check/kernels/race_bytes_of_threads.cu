// Four threads write the four bytes of a word; then each reads the byte of another thread, without a barrier.
#include <cuda_runtime.h>

__global__ void rotate_kernel(unsigned char* x) {
    __shared__ unsigned char s[128];
    s[threadIdx.x] = x[threadIdx.x];  //! race
    x[threadIdx.x] = s[threadIdx.x ^ 64];  //! race
}

int main() {
    unsigned char* x;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    rotate_kernel<<<1, 128>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
