// Cheat: a kernel reads an array of the host, which the host has made read-only, like the code's own constants.
#include <sys/mman.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, const int* factors) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] * factors[i % 1024]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    alignas(4096) static int factors[1024];
    mprotect(factors, sizeof factors, PROT_READ | PROT_WRITE);
    for (int& factor : factors) factor = 1;
    mprotect(factors, sizeof factors, PROT_READ);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, factors);
}
