// The function and its caller free the same memory.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

void fill(int* out) {
    fill_kernel<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    fill(out);
    cudaFree(out);  //! invalid_free
    return cudaGetLastError() != cudaErrorInvalidValue;
}
