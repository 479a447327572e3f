// A shuffle moves a register; it does not order what the lanes wrote to memory.
#include <cuda_runtime.h>

__global__ void swap_kernel(int* x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];  //! race
    const int other = __shfl_xor_sync(0xffffffffu, threadIdx.x, 1);
    x[threadIdx.x] = s[other];  //! race
}

int main() {
    int* x;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    swap_kernel<<<1, 32>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
