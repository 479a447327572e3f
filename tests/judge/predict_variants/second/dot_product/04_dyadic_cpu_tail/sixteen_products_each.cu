// A thread adds 16 products before the block's tree, so there are fewer blocks, sums and launches.

#include <numeric>
#include <utility>
#include <vector>

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef CUTOFF
#define CUTOFF 1024
#endif
static_assert((BLOCK & (BLOCK - 1)) == 0, "the tree needs a power of two");
static_assert(CUTOFF >= 1, "one sum remains at the end");

constexpr unsigned products_each = 16;

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
    const std::size_t first = std::size_t{blockIdx.x} * BLOCK * products_each + threadIdx.x;
    int sum = 0;
#pragma unroll
    for (unsigned k = 0; k < products_each; ++k)
        if (first + k * BLOCK < n) sum += a[first + k * BLOCK] * b[first + k * BLOCK];
    store_block_sum(sum, partial);
}

__global__ void add_kernel(const int* values, int* partial, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    store_block_sum(i < count ? values[i] : 0, partial);
}

std::size_t blocks_for(std::size_t count) { return (count + BLOCK - 1) / BLOCK; }
std::size_t first_blocks(std::size_t n) { return (n + BLOCK * products_each - 1) / (BLOCK * products_each); }

// The kernels use two areas in turn: blocks run in any order, so no block may write to a place that another one reads.
std::size_t dot_product_scratch_bytes(std::size_t n) {
    return (first_blocks(n) + blocks_for(first_blocks(n))) * sizeof(int);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    if (n == 0) {
        CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
        return;
    }
    std::size_t count = first_blocks(n);
    int* partial = static_cast<int*>(scratch);
    multiply_kernel<<<static_cast<unsigned>(count), BLOCK>>>(a, b, partial, n);
    CUDA_CHECK(cudaGetLastError());

    for (int* next = partial + count; count > CUTOFF; std::swap(partial, next)) {
        const std::size_t blocks = blocks_for(count);
        add_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(partial, next, count);
        CUDA_CHECK(cudaGetLastError());
        count = blocks;
    }

    std::vector<unsigned> rest(count);  // unsigned, so that sums also wrap around on the CPU
    CUDA_CHECK(cudaMemcpy(rest.data(), partial, count * sizeof(int), cudaMemcpyDeviceToHost));
    const unsigned sum = std::accumulate(rest.begin(), rest.end(), 0u);
    CUDA_CHECK(cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice));
}
