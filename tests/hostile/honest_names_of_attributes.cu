// Honest: its functions have the names of attributes and take strings.
#include "labs/dot_product/lab.h"

static int section(const char* name) { return name[0] == ' '; }
static int alias(const char* name) { return section(name); }
static int weakref(const char* name) { return alias(name); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (section("clear the sum") ||
        alias("the sum:"
              " out") ||
        weakref("n > 0"))
        return;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
