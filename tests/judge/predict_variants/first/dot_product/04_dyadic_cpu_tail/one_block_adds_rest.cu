// A single block adds all partial sums in a loop, so nothing is copied to the host.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

static_assert((BLOCK & (BLOCK - 1)) == 0, "the tree needs a power of two");

// The tree of stage 03; the block's sum goes to partial[blockIdx.x].
__device__ void store_block_sum(int value, int* partial) {
    __shared__ int sums[BLOCK];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

__global__ void multiply_kernel(const int* a, const int* b, int* partial, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    store_block_sum(i < n ? a[i] * b[i] : 0, partial);
}

__global__ void add_kernel(const int* values, int* partial, std::size_t count) {
    int sum = 0;
    for (std::size_t i = threadIdx.x; i < count; i += BLOCK) sum += values[i];
    store_block_sum(sum, partial);
}

std::size_t blocks_for(std::size_t count) { return (count + BLOCK - 1) / BLOCK; }

std::size_t dot_product_scratch_bytes(std::size_t n) { return blocks_for(n) * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    if (n == 0) {
        CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
        return;
    }
    const std::size_t count = blocks_for(n);
    int* partial = static_cast<int*>(scratch);
    multiply_kernel<<<static_cast<unsigned>(count), BLOCK>>>(a, b, partial, n);
    CUDA_CHECK(cudaGetLastError());

    add_kernel<<<1, BLOCK>>>(partial, out, count);
    CUDA_CHECK(cudaGetLastError());
}
