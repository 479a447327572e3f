// Two arrays in turn: in every step the first threads add a pair of neighbours and store it closely packed.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
static_assert((BLOCK & (BLOCK - 1)) == 0, "the tree needs a power of two");

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sums[BLOCK], other[BLOCK / 2];
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();

    int *from = sums, *to = other;
    for (unsigned pairs = BLOCK / 2; pairs > 0; pairs /= 2) {
        if (threadIdx.x < pairs) to[threadIdx.x] = from[2 * threadIdx.x] + from[2 * threadIdx.x + 1];
        __syncthreads();
        int* const swapped = from;
        from = to;
        to = swapped;
    }

    if (threadIdx.x == 0) atomicAdd(out, from[0]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
