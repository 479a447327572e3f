// Every thread adds its product to one shared sum with an atomic, and thread 0 adds that to out.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
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
