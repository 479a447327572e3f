// Lanes exchange values through dynamic shared memory without __syncwarp.
#include <cuda_runtime.h>

__global__ void swap_kernel(const int* in, int* out) {
    extern __shared__ int values[];
    int t = threadIdx.x;
    values[t] = in[t];          //! race
    int other = values[t ^ 1];  //! race
    out[t] = other;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    swap_kernel<<<1, 64, 64 * sizeof(int)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
