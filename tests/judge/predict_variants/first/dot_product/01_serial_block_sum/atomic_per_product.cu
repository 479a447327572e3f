// Every thread adds its product to out in global memory with an atomic, without a sum per block.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));  // in every call: out holds garbage, or the previous call's answer
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
