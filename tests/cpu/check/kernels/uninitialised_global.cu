// The input is allocated, but never written.
#include <cuda_runtime.h>

__global__ void add_one_kernel(const int* in, int* out) {
    int value = in[threadIdx.x];  //! uninitialised
    out[threadIdx.x] = value + 1;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    add_one_kernel<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
