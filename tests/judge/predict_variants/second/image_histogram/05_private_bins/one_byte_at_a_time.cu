// A thread loads single pixels instead of vectors of 16, with two loads in flight.

#include <algorithm>

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 512
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 3
#endif
#ifndef PIXELS_PER_BLOCK  // minimum, because each block costs 256 global atomics
#define PIXELS_PER_BLOCK 16384
#endif
constexpr unsigned lanes = 32;
static_assert(BLOCK % lanes == 0, "whole warps");

__device__ unsigned totals[bin_count], finished_blocks;  // 0 between calls

__device__ void clear_columns(unsigned* columns) {
    for (unsigned i = threadIdx.x; i < bin_count * lanes; i += BLOCK) columns[i] = 0;
    __syncthreads();
}

__device__ void count_pixels(const unsigned char* pixels, std::size_t n, unsigned* columns, unsigned lane) {
    const std::size_t stride = std::size_t{gridDim.x} * BLOCK;
    clear_columns(columns);
    std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
#pragma unroll 1
    for (; i + stride < n; i += 2 * stride) {
        const unsigned a = pixels[i], b = pixels[i + stride];
        atomicAdd(&columns[a * lanes + lane], 1u);
        atomicAdd(&columns[b * lanes + lane], 1u);
    }
    if (i < n) atomicAdd(&columns[pixels[i] * lanes + lane], 1u);
}

__global__ void __launch_bounds__(BLOCK)
    image_histogram_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned columns[bin_count * lanes];
    const unsigned lane = threadIdx.x % lanes;
    count_pixels(pixels, n, columns, lane);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bin_count; bin += BLOCK) {
        unsigned sum = 0;
        // Each lane begins at a different column, because otherwise all 32 would read the same bank.
#pragma unroll 8
        for (unsigned k = 0; k < lanes; ++k) sum += columns[bin * lanes + (k + lane) % lanes];
        if (sum > 0) atomicAdd(&totals[bin], sum);
    }

    // The last block to arrive here writes all bins, and resets totals and finished_blocks to 0.
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // orders the block's additions before its count; strictly, the last block needs one, too
        is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned bin = threadIdx.x; bin < bin_count; bin += BLOCK) bins[bin] = atomicExch(&totals[bin], 0u);
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* /*scratch*/) {
    static const unsigned multiprocessors = count_multiprocessors();
    const std::size_t blocks = std::clamp<std::size_t>(n / PIXELS_PER_BLOCK, 1, multiprocessors * BLOCKS_PER_SM);
    image_histogram_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
