// One thread waits for a flag that nobody sets.
#include "labs/dot_product/lab.h"

__device__ volatile int ready;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    while (ready == 0) {
    }
    int sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    *out = sum;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    dot_product_kernel<<<1, 1>>>(a, b, out, n);
}
