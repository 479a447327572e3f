// Five blocks write bytes 0, 1, 2, 1 and 3 of one word, so two of them write the same byte.
#include <cuda_runtime.h>

__global__ void mark_kernel(unsigned char* x) {
    const int byte = blockIdx.x == 3 ? 1 : blockIdx.x == 4 ? 3 : blockIdx.x;
    if (threadIdx.x == 0) x[byte] = 1 + blockIdx.x;  //! race
}

int main() {
    unsigned char* x;
    cudaMalloc(&x, 4);
    mark_kernel<<<5, 32>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
