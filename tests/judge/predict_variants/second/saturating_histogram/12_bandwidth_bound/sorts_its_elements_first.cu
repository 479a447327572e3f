// A thread sorts its 16 elements in registers, so that it adds equal ones to a bin with one atomic.

#include <algorithm>

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 1
#endif
#ifndef VECTORS  // of four elements, per lane and segment
#define VECTORS 4
#endif
constexpr unsigned warp_threads = 32, warps_per_block = BLOCK / warp_threads, vector_elements = 4;
constexpr unsigned segment = VECTORS * warp_threads * vector_elements;  // elements

struct Input {
    const std::uint32_t* elements;
    unsigned width;
    std::size_t pitch;
    unsigned row_segments, segments;  // of a row (the last one may be short), and of all rows
};

// This lane's vectors of a segment: neighbouring lanes load neighbouring vectors. Past the end of a row, its last
// vector is loaded once more.
__device__ void load(const Input& input, unsigned number, uint4 (&vectors)[VECTORS]) {
    const unsigned row = number / input.row_segments, lane = threadIdx.x % warp_threads;
    const unsigned first = (number - row * input.row_segments) * (segment / vector_elements) + lane;
    const unsigned last = (input.width - 1) / vector_elements;
    const auto* from = reinterpret_cast<const uint4*>(input.elements + row * input.pitch);
#pragma unroll
    for (unsigned k = 0; k < VECTORS; ++k) vectors[k] = __ldcs(&from[min(first + k * warp_threads, last)]);
}

constexpr unsigned none = ~0u;  // in place of what is past the end of a row
constexpr unsigned own_elements = VECTORS * vector_elements;

// Each step exchanges neighbours that are in the wrong order; the loops are unrolled, so all stays in registers.
__device__ void sort(unsigned (&values)[own_elements]) {
#pragma unroll
    for (unsigned step = 0; step < own_elements; ++step)
#pragma unroll
        for (unsigned k = step % 2; k + 1 < own_elements; k += 2) {
            const unsigned low = min(values[k], values[k + 1]), high = max(values[k], values[k + 1]);
            values[k] = low;
            values[k + 1] = high;
        }
}

// The first element of a run of equal ones counts the run.
__device__ void count_runs(const unsigned (&values)[own_elements], unsigned* bins) {
    unsigned length = 1;
#pragma unroll
    for (unsigned k = 0; k < own_elements; ++k) {
        if (k + 1 < own_elements && values[k + 1 < own_elements ? k + 1 : k] == values[k]) {
            ++length;
            continue;
        }
        if (values[k] != none) atomicAdd(&bins[values[k]], length);
        length = 1;
    }
}

__device__ void count(const Input& input, unsigned number, const uint4 (&vectors)[VECTORS], unsigned* bins) {
    const unsigned lane = threadIdx.x % warp_threads, column = number % input.row_segments * segment;
    const int left = static_cast<int>(input.width) - static_cast<int>(column + lane * vector_elements);
    unsigned values[own_elements];
#pragma unroll
    for (unsigned k = 0; k < VECTORS; ++k) {
        const int rest = left - static_cast<int>(k * warp_threads * vector_elements);
        values[4 * k] = rest > 0 ? vectors[k].x : none;
        values[4 * k + 1] = rest > 1 ? vectors[k].y : none;
        values[4 * k + 2] = rest > 2 ? vectors[k].z : none;
        values[4 * k + 3] = rest > 3 ? vectors[k].w : none;
    }
    sort(values);
    count_runs(values, bins);
}

// One word for each bin: the sum and, in the upper bits, the number of blocks that have added. So a block that adds
// knows whether all others have. All are 0 between calls: the last block to add to a bin resets it. A gap after each
// cache line spreads them over more slices of the L2 cache, which does the additions.
constexpr unsigned line = 32, line_pitch = 2 * line;  // words
__device__ unsigned totals[bin_count / line * line_pitch];
constexpr unsigned one_block = 1u << 20, most_blocks = (1u << 12) - 1;
static_assert(most_blocks * bin_full < one_block, "what is added does not reach the number of blocks");

__device__ void finish(const unsigned* own, std::uint8_t* bins) {
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) {
        unsigned* total = &totals[b / line * line_pitch + b % line];
        const unsigned added = min(own[b], bin_full), before = atomicAdd(total, one_block + added);
        if (before / one_block < gridDim.x - 1) continue;
        bins[b] = static_cast<std::uint8_t>(min(before % one_block + added, bin_full));
        atomicAnd(total, 0u);  // unlike atomicExch, it returns no value
    }
}

__global__ void __launch_bounds__(BLOCK) count_kernel(Input input, std::uint8_t* bins) {
    __shared__ unsigned own[bin_count];
    const unsigned warps = gridDim.x * warps_per_block;
    const unsigned first = blockIdx.x * warps_per_block + threadIdx.x / warp_threads;
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();
    for (unsigned number = first; number < input.segments; number += warps) {
        uint4 vectors[VECTORS];
        load(input, number, vectors);
        count(input, number, vectors, own);
    }
    __syncthreads();
    finish(own, bins);
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* /*scratch*/) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    const auto row_segments = static_cast<unsigned>((width + segment - 1) / segment);
    const Input rows{input, static_cast<unsigned>(width), pitch, row_segments,
                     row_segments * static_cast<unsigned>(height)};
    const unsigned useful = (rows.segments + warps_per_block - 1) / warps_per_block;
    const unsigned blocks = std::min({useful, count_multiprocessors() * BLOCKS_PER_SM, most_blocks});
    count_kernel<<<blocks, BLOCK>>>(rows, bins);
    CUDA_CHECK(cudaGetLastError());
}
