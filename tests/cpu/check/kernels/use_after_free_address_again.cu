// A kernel uses freed memory after many allocations of the same size, of which the last still exists.
#include <cuda_runtime.h>

__global__ void write_kernel(int* x) {
    if (x) x[threadIdx.x] = 1;  //! use_after_free
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaFree(x);
    for (int i = 0; i < 2000; ++i) {
        cudaMalloc(&y, 64 * sizeof(int));
        if (i < 1999) cudaFree(y);
    }
    write_kernel<<<1, 64>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
