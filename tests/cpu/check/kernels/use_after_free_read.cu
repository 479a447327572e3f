// The input is freed before the launch.
#include <cuda_runtime.h>

__global__ void copy_kernel(const int* in, int* out) {
    int value = in[threadIdx.x];  //! use_after_free
    out[threadIdx.x] = value;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    cudaFree(in);
    copy_kernel<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
