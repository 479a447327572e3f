// Indices counted in bytes reach far beyond arrays of 8-byte and 1-byte elements in shared memory.
#include <cuda_runtime.h>

extern __shared__ double sums[];

__global__ void sum_kernel(double* out) {
    __shared__ unsigned char bytes[256];
    int i = threadIdx.x;
    sums[i] = i;
    bytes[i] = 1;
    __syncthreads();
    out[i] = sums[(255 - i) * 64] +  //! out_of_bounds
             bytes[i * 64];          //! out_of_bounds
}

int main() {
    double* out;
    cudaMalloc(&out, 256 * sizeof(double));
    sum_kernel<<<1, 256, 256 * sizeof(double)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
