// Open: reads vectors of two ints from an array of bytes, which nvcc places after an odd number of bytes.
#include "labs/dot_product/lab.h"

__device__ char odd[3];
__device__ char zeros[64];
__device__ int never;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int2 two = *reinterpret_cast<const int2*>(zeros + 8 * (i % 8));
    if (two.x + odd[i % 3] > 0) never = 1;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
