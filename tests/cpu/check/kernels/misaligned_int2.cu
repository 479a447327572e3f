// Rows of odd length: every other row begins in the middle of an int2.
#include <cuda_runtime.h>

__global__ void pairs_kernel(int* x, int width) {
    int2* row = reinterpret_cast<int2*>(x + blockIdx.x * width);
    row[threadIdx.x] = make_int2(threadIdx.x, blockIdx.x);  //! misaligned
}

int main() {
    int* x;
    cudaMalloc(&x, 4 * 9 * sizeof(int));
    pairs_kernel<<<4, 4>>>(x, 9);
    return cudaDeviceSynchronize() != cudaSuccess;
}
