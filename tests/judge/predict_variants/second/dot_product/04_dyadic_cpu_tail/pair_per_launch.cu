// Each further kernel only adds pairs, so it takes many launches until few sums are left.

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

// Thread i adds the sums 2i and 2i + 1.
__global__ void add_kernel(const int* values, int* partial, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (2 * i < count) partial[i] = values[2 * i] + (2 * i + 1 < count ? values[2 * i + 1] : 0);
}

std::size_t blocks_for(std::size_t count) { return (count + BLOCK - 1) / BLOCK; }

// The kernels use two areas in turn: blocks run in any order, so no block may write to a place that another one reads.
std::size_t dot_product_scratch_bytes(std::size_t n) { return (blocks_for(n) + (blocks_for(n) + 1) / 2) * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    if (n == 0) {
        CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
        return;
    }
    std::size_t count = blocks_for(n);
    int* partial = static_cast<int*>(scratch);
    multiply_kernel<<<static_cast<unsigned>(count), BLOCK>>>(a, b, partial, n);
    CUDA_CHECK(cudaGetLastError());

    for (int* next = partial + count; count > CUTOFF; std::swap(partial, next)) {
        const std::size_t pairs = (count + 1) / 2;
        add_kernel<<<static_cast<unsigned>(blocks_for(pairs)), BLOCK>>>(partial, next, count);
        CUDA_CHECK(cudaGetLastError());
        count = pairs;
    }

    std::vector<unsigned> rest(count);  // unsigned, so that sums also wrap around on the CPU
    CUDA_CHECK(cudaMemcpy(rest.data(), partial, count * sizeof(int), cudaMemcpyDeviceToHost));
    const unsigned sum = std::accumulate(rest.begin(), rest.end(), 0u);
    CUDA_CHECK(cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice));
}
