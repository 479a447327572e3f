// Cheat: reads beyond the end with inline assembly, whose keyword a macro builds.
#include "labs/dot_product/lab.h"

#define JOIN(a, b) a##b

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    int last = 0;
    JOIN(as, m) volatile("movl (%1), %0" : "=r"(last) : "r"(a + i + 1));
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
