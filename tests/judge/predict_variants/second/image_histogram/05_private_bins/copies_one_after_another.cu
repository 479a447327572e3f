// The lanes' copies follow each other in shared memory, so the bank depends on the value instead of the lane.

#include <algorithm>

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 512
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 3
#endif
#ifndef AHEAD  // vectors of 16 pixels in each of two register arrays
#define AHEAD 2
#endif
#ifndef PIXELS_PER_BLOCK  // minimum, because each block costs 256 global atomics
#define PIXELS_PER_BLOCK 16384
#endif
constexpr unsigned lanes = 32;
constexpr unsigned pixels_per_vector = sizeof(uint4);
static_assert(BLOCK % lanes == 0, "whole warps");

__device__ unsigned totals[bin_count], finished_blocks;  // 0 between calls

// Counts the four pixels of a word in this lane's copy.
__device__ void count_word(unsigned* columns, unsigned lane, unsigned word) {
    unsigned* const copy = columns + lane * bin_count;
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 8) atomicAdd(&copy[word >> shift & (bin_count - 1)], 1u);
}

// AHEAD vectors, `stride` apart. There is no if: in place of a vector past the end, the last one is read and not
// counted. So all loads are issued at once, and no thread waits for them before it uses them.
__device__ void fetch(uint4 (&to)[AHEAD], const uint4* vectors, unsigned count, unsigned first, unsigned stride) {
#pragma unroll
    for (unsigned k = 0; k < AHEAD; ++k) to[k] = __ldcs(vectors + min(first + k * stride, count - 1));
}

__device__ void tally(const uint4 (&from)[AHEAD], unsigned* columns, unsigned lane, unsigned count, unsigned first,
                      unsigned stride) {
#pragma unroll
    for (unsigned k = 0; k < AHEAD; ++k) {
        if (first + k * stride < count) {
            count_word(columns, lane, from[k].x);
            count_word(columns, lane, from[k].y);
            count_word(columns, lane, from[k].z);
            count_word(columns, lane, from[k].w);
        }
    }
}

__device__ void clear_columns(unsigned* columns) {
    for (unsigned i = threadIdx.x; i < bin_count * lanes; i += BLOCK) columns[i] = 0;
    __syncthreads();
}

// The block's share of the vectors. There are less than 2^28 of them, so an unsigned can index beyond the end.
__device__ void count_vectors(const uint4* vectors, unsigned count, unsigned* columns, unsigned lane) {
    const unsigned stride = gridDim.x * BLOCK;
    uint4 a[AHEAD], b[AHEAD];
    unsigned first = blockIdx.x * BLOCK + threadIdx.x;
    if (count > 0) fetch(a, vectors, count, first, stride);
    clear_columns(columns);  // while the first pixels are on their way
    for (; first < count; first += 2 * AHEAD * stride) {
        fetch(b, vectors, count, first + AHEAD * stride, stride);
        tally(a, columns, lane, count, first, stride);
        fetch(a, vectors, count, first + 2 * AHEAD * stride, stride);
        tally(b, columns, lane, count, first + AHEAD * stride, stride);
    }
}

__global__ void __launch_bounds__(BLOCK)
    image_histogram_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned columns[bin_count * lanes];
    const unsigned lane = threadIdx.x % lanes;
    const auto vectors = static_cast<unsigned>(n / pixels_per_vector);
    count_vectors(reinterpret_cast<const uint4*>(pixels), vectors, columns, lane);
    const std::size_t i = std::size_t{vectors} * pixels_per_vector + threadIdx.x;  // up to 15 pixels are left
    if (blockIdx.x == 0 && i < n) atomicAdd(&columns[lane * bin_count + pixels[i]], 1u);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bin_count; bin += BLOCK) {
        unsigned sum = 0;
#pragma unroll 8
        for (unsigned k = 0; k < lanes; ++k) sum += columns[k * bin_count + bin];
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
