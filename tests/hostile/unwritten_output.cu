// Cheat: launches a kernel that writes nothing, hoping that memory still holds an answer.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int*, const int*, int*, std::size_t) {}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
