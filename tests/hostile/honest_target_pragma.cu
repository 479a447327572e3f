// Honest: a pragma selects a processor for host code, as in programs from contests.
#pragma GCC optimize("O3")
#pragma GCC target("avx2")
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    int product = i < n ? a[i] * b[i] : 0;
    for (int half = 16; half > 0; half /= 2) product += __shfl_down_sync(0xffffffffu, product, half);
    if (threadIdx.x % 32 == 0) atomicAdd(out, product);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
