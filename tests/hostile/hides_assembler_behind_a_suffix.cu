// Cheat: reads beyond the end by assembly, between two texts that have the suffix R and thus look like one raw string.
#include "labs/dot_product/lab.h"

constexpr int operator""R(const char*, std::size_t) { return 0; }

__device__ __attribute__((noinline)) int read(const int* from) {
    int value = 0, nothing = ""R"("; asm volatile("movl (%1), %0" : "=r"(value) : "r"(from)); nothing += ""R")";
    return value + nothing;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int beyond = read(a + i + 1);
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * beyond);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
