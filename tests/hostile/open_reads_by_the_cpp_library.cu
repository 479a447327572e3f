// Open: reads beyond the end with a function of the C++ library, whose own memcmp has no hooks.
#include <algorithm>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const bool are_equal = std::equal(a + i + 1, a + i + 2, b + i + 1);
    if (i < n) atomicAdd(out, a[i] * b[i]);
    if (are_equal) atomicAdd(out, 0);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
