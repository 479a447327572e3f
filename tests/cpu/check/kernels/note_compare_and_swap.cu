// The common loop around atomicCAS begins with a plain read.
#include <cuda_runtime.h>

__global__ void multiply_kernel(int* product) {
    int seen = *product, expected;  //! note
    do {
        expected = seen;
        seen = atomicCAS(product, expected, expected * 3);  //! note
    } while (seen != expected);
}

int main() {
    int one = 1, *product;
    cudaMalloc(&product, sizeof(int));
    cudaMemcpy(product, &one, sizeof(int), cudaMemcpyHostToDevice);
    multiply_kernel<<<2, 8>>>(product);
    return cudaDeviceSynchronize() != cudaSuccess;
}
