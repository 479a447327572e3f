// Cheat: uses an input as scratch memory and restores it before the call ends.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* const scratch = const_cast<int*>(a);
    const int was = a[i];
    scratch[i] = was * b[i];
    atomicAdd(out, scratch[i]);
    scratch[i] = was;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
