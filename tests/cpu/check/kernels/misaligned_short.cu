// A short at an odd byte.
#include <cuda_runtime.h>

__global__ void shorts_kernel(char* bytes) {
    *reinterpret_cast<short*>(bytes + 3) = 5;  //! misaligned
}

int main() {
    char* bytes;
    cudaMalloc(&bytes, 16);
    shorts_kernel<<<1, 1>>>(bytes);
    return cudaDeviceSynchronize() != cudaSuccess;
}
