// Honest: a kernel reads constants that the compiler stores in the program: a table, function addresses and a string.
#include "labs/dot_product/lab.h"

__device__ int times(int x, int y) { return x * y; }
__device__ int swapped(int x, int y) { return y * x; }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    static constexpr int ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int (*const products[2])(int, int) = {times, swapped};
    const int* volatile kept = ones;
    const int* table = kept;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, products[i % 2](a[i], b[i]) * table[i % 64] * ("\1\1"[i % 2]));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
