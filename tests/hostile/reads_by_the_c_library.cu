// Cheat: reads beyond the end with functions of the C library, which have no hooks; pointers hide the functions' names.
#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

constexpr auto read_number = &strtol;
constexpr auto print = &snprintf;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const auto* next = reinterpret_cast<const char*>(a + i + 1);
    const bool beyond = read_number(next, nullptr, 10) != 0 || print(nullptr, 0, "%.4s", next) == 3;
    if (i < n) atomicAdd(out, a[i] * b[i]);
    if (beyond) atomicAdd(out, 0);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
