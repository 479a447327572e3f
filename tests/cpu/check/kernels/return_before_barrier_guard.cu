// Threads past the end return, and the others of their block wait for them.
#include <cuda_runtime.h>

__global__ void reverse_kernel(const int* x, int* out, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();  //! return_before_barrier
    int last = min(63, n - 1 - int(blockIdx.x * blockDim.x));
    out[i] = tile[last - threadIdx.x];
}

int main() {
    const int n = 100;
    int *x, *out;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    reverse_kernel<<<2, 64>>>(x, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
