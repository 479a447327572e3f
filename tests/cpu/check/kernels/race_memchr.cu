// cuda::std::memchr() reads bytes that other threads write, without a barrier.
#include <cuda/std/cstring>

__global__ void kernel(int* found) {
    __shared__ unsigned char bytes[64];
    bytes[threadIdx.x] = threadIdx.x & 31;                                        //! race
    if (threadIdx.x == 32) *found = cuda::std::memchr(bytes, 40, 64) != nullptr;  //! race
}

int main() {
    int* found;
    cudaMalloc(&found, sizeof(int));
    kernel<<<1, 64>>>(found);
    return cudaDeviceSynchronize() != cudaSuccess;
}
