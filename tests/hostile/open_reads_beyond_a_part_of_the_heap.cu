// Open: writes and reads beyond the end of an allocation in the device's heap.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i >= n) return;
    volatile int* part = static_cast<int*>(malloc(4 * sizeof(int)));
    if (part == nullptr) return;
    part[0] = a[i] * b[i];
    part[5] = 0;  // beyond its 4 elements
    atomicAdd(out, part[0] + part[5]);
    free(const_cast<int*>(part));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
