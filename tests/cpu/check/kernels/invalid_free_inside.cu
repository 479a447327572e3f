// When the pointer is freed, it points into its memory, not to its beginning.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
    int *out, *first;
    cudaMalloc(&out, 128 * sizeof(int));
    first = out;
    for (int part = 0; part < 4; ++part, out += 32) fill_kernel<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out - 32);  //! invalid_free
    return cudaFree(first) != cudaSuccess;
}
