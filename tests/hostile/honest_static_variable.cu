// Honest: blocks take tickets from a static variable of a function, which CUDA places in device memory.
#include "labs/dot_product/lab.h"

constexpr unsigned blocks = 8;
__device__ int sums[blocks];

__device__ unsigned take_ticket() {
    static unsigned taken;
    return atomicInc(&taken, blocks - 1);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    int sum = 0;
    for (std::size_t i = blockIdx.x; i < n; i += blocks) sum += a[i] * b[i];
    sums[blockIdx.x] = sum;
    __threadfence();
    if (take_ticket() != blocks - 1) return;
    __threadfence();
    sum = 0;
    for (unsigned block = 0; block < blocks; ++block) sum += sums[block];
    *out = sum;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    dot_product_kernel<<<blocks, 1>>>(a, b, out, n);
}
