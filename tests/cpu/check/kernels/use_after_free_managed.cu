// Managed memory is freed, and a pointer into its middle is used.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* x, int* out) {
    atomicAdd(out, x[threadIdx.x]);  //! use_after_free
}

int main() {
    int *x, *out;
    cudaMallocManaged(&x, 4096 * sizeof(int));
    cudaMallocManaged(&out, sizeof(int));
    for (int i = 0; i < 4096; i++) x[i] = 1;
    *out = 0;
    const int* middle = x + 2048;
    cudaFree(x);
    sum_kernel<<<1, 64>>>(middle, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
