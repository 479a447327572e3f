// The same tree from the other end: the upper half is added to the lower half, then a quarter to a quarter, and so on.
// The active threads are always the first ones, so whole warps become idle instead of diverging, and neighbouring
// threads read neighbouring words: no bank conflicts (stage 02 has none either).

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
static_assert((BLOCK & (BLOCK - 1)) == 0, "the tree needs a power of two");

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sums[BLOCK];
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();

    //@ begin
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    //@ starter
    //@ // TODO: first the threads of the lower half each add one sum of the upper half to their own; then the same with
    //@ // half as many, until one sum is left.
    //@ end

    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
