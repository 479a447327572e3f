// The input was never copied to the device: the kernel gets the pointer from malloc.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void copy_kernel(const int* in, int* out) {
    int value = in[threadIdx.x];  //! host_memory
    out[threadIdx.x] = value;
}

int main() {
    int *in = static_cast<int*>(malloc(64 * sizeof(int))), *out;
    for (int i = 0; i < 64; i++) in[i] = i;
    cudaMalloc(&out, 64 * sizeof(int));
    copy_kernel<<<1, 64>>>(in, out);
    free(in);
    return cudaDeviceSynchronize() != cudaSuccess;
}
