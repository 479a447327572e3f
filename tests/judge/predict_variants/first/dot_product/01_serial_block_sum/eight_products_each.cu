// Each thread adds eight products in a register first, so there are fewer blocks and serial sums.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
constexpr unsigned per_thread = 8;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[BLOCK];
    const std::size_t first = std::size_t{blockIdx.x} * BLOCK * per_thread + threadIdx.x;
    int own = 0;
    for (unsigned k = 0; k < per_thread; ++k) {
        const std::size_t i = first + k * BLOCK;
        if (i < n) own += a[i] * b[i];
    }
    products[threadIdx.x] = own;
    __syncthreads();  // until every product is there

    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned t = 0; t < BLOCK; ++t) sum += products[t];
        atomicAdd(out, sum);  // blocks run in any order and at the same time: out += sum would lose sums
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));  // in every call: out holds garbage, or the previous call's answer
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK * per_thread - 1) / (BLOCK * per_thread);
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
