// __syncthreads does not order blocks: the neighbour may be in another one.
#include <cuda_runtime.h>

__global__ void rotate_kernel(int* x, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = 5 * i;  //! race
    __syncthreads();
    int next = x[(i + 1) % n];  //! race
    out[i] = next;
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    rotate_kernel<<<4, 64>>>(x, out, 256);
    return cudaDeviceSynchronize() != cudaSuccess;
}
