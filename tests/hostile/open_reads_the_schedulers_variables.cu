// Open: an index far before a shared array of 8-byte elements reaches the scheduler's own variables.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ double products[256];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    const double* const far = products - 144;
    if (far[0] == 0.5) products[threadIdx.x] = 0;
    atomicAdd(out, static_cast<int>(products[threadIdx.x]));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
