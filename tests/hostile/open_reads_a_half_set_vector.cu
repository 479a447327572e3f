// Open: reads vectors whose second half was never written.
#include "labs/dot_product/lab.h"

__device__ int never;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int2 pairs[256];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    pairs[threadIdx.x].x = 0;
    const int2 pair = pairs[threadIdx.x];
    if (pair.x == 1 && pair.y == 1) never = 1;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
