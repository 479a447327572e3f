// The copy has one element more than the allocation.
#include <cuda_runtime.h>

__global__ void increment_kernel(int* x) { x[threadIdx.x]++; }

int main() {
    int host[1025] = {}, *x;
    cudaMalloc(&x, 1024 * sizeof(int));
    cudaMemcpy(x, host, 1025 * sizeof(int), cudaMemcpyHostToDevice);  //! copy_size
    increment_kernel<<<1, 1024>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
