// Reads at the speed of memory, in one launch. A warp takes segments of a row: it loads a whole segment before it
// counts any of it, and while it waits and counts, the loads of 31 other warps are in flight. It counts without testing
// whether a bin is full: in shared memory the test costs more than it saves. The last block to add to a bin's total
// writes the bin and resets the total to 0 for the next call.

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
    // TODO: load VECTORS vectors of the row, warp_threads apart, from this lane's first one in the segment on,
    // but none beyond the row's last vector. __ldcs(&…) loads data that will not be needed again.
    for (uint4& vector : vectors) (void)row, (void)lane, vector = make_uint4(0, 0, 0, 0);
}

// Counts the first `left` elements of a vector. Nearly always these are all four, which needs one test instead of four.
__device__ void count_vector(const uint4& vector, int left, unsigned* bins) {
    if (left >= static_cast<int>(vector_elements)) {
        atomicAdd(&bins[vector.x], 1u);
        atomicAdd(&bins[vector.y], 1u);
        atomicAdd(&bins[vector.z], 1u);
        atomicAdd(&bins[vector.w], 1u);
        return;
    }
    if (left > 0) atomicAdd(&bins[vector.x], 1u);
    if (left > 1) atomicAdd(&bins[vector.y], 1u);
    if (left > 2) atomicAdd(&bins[vector.z], 1u);
}

__device__ void count(const Input& input, unsigned number, const uint4 (&vectors)[VECTORS], unsigned* bins) {
    const unsigned lane = threadIdx.x % warp_threads, column = number % input.row_segments * segment;
    // TODO: add 1 to the bin of each element of these vectors that belongs to the row, with count_vector. How many
    // elements does the row have from this lane's first vector on, and from the k-th on? There may be none.
    (void)lane, (void)column, (void)vectors, (void)bins;
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
    // TODO: clear the block's bins. Then this warp takes every warps-th segment, from the first one on: it loads
    // all vectors of one and counts them. Where must all threads wait for each other?
    (void)warps, (void)first, (void)input;
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
