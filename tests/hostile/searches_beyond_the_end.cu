// Cheat: reads beyond the end with functions of the C library.
#include <cstring>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const auto* end = reinterpret_cast<const char*>(a + n);
    const bool beyond = i == n && (memchr(end, 1, sizeof(int)) || bcmp(end, end + 1, 2) || strchr(end, 1));
    if (i < n) atomicAdd(out, a[i] * b[i]);
    if (beyond) atomicAdd(out, 0);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
