// In blocks of 64, the threads add their products to a shared sum one after the other, with a barrier after each.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 64
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sum;
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    const int product = i < n ? a[i] * b[i] : 0;
    if (threadIdx.x == 0) sum = 0;
    for (unsigned turn = 0; turn < BLOCK; ++turn) {
        __syncthreads();
        if (threadIdx.x == turn) sum += product;
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));  // in every call: out holds garbage, or the previous call's answer
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
