// Totals are not reset to 0 for the next call.

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
// vector is loaded once more; past the last segment, the last segment is loaded again.
__device__ void load(const Input& input, unsigned number, uint4 (&vectors)[VECTORS]) {
    number = min(number, input.segments - 1);
    const unsigned row = number / input.row_segments, lane = threadIdx.x % warp_threads;
    const unsigned first = (number - row * input.row_segments) * (segment / vector_elements) + lane;
    const unsigned last = (input.width - 1) / vector_elements;
    const auto* from = reinterpret_cast<const uint4*>(input.elements + row * input.pitch);
#pragma unroll
    for (unsigned k = 0; k < VECTORS; ++k) vectors[k] = __ldcs(&from[min(first + k * warp_threads, last)]);
}

__device__ void count(const Input& input, unsigned number, const uint4 (&vectors)[VECTORS], unsigned* bins) {
    if (number >= input.segments) return;
    const unsigned lane = threadIdx.x % warp_threads, column = number % input.row_segments * segment;
    const int left = static_cast<int>(input.width) - static_cast<int>(column + lane * vector_elements);
#pragma unroll
    for (unsigned k = 0; k < VECTORS; ++k) {
        const int of_vector = left - static_cast<int>(k * warp_threads * vector_elements);
        if (of_vector > 0) atomicAdd(&bins[vectors[k].x], 1u);
        if (of_vector > 1) atomicAdd(&bins[vectors[k].y], 1u);
        if (of_vector > 2) atomicAdd(&bins[vectors[k].z], 1u);
        if (of_vector > 3) atomicAdd(&bins[vectors[k].w], 1u);
    }
}

__device__ unsigned totals[bin_count], finished_blocks;  // finished_blocks is 0 between calls

// Adds the block's bins to the totals. The last block to do so writes them out.
__device__ void finish(const unsigned* own, std::uint8_t* bins) {
    __shared__ bool is_last;
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK)
        if (own[b] > 0) atomicAdd(&totals[b], min(own[b], bin_full));
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // a block that sees this one counted sees its bins in the totals, too
        // atomicInc goes back to 0 after gridDim.x - 1, so the next call also begins with 0.
        is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) {
        bins[b] = static_cast<std::uint8_t>(min(__ldcg(&totals[b]), bin_full));
    }
}

__global__ void __launch_bounds__(BLOCK) count_kernel(Input input, std::uint8_t* bins) {
    __shared__ unsigned own[bin_count];
    const unsigned warps = gridDim.x * warps_per_block;
    unsigned number = blockIdx.x * warps_per_block + threadIdx.x / warp_threads;
    uint4 even[VECTORS], odd[VECTORS];
    load(input, number, even);
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();

    for (; number < input.segments; number += 2 * warps) {
        load(input, number + warps, odd);
        count(input, number, even, own);
        load(input, number + 2 * warps, even);
        count(input, number + warps, odd, own);
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
    count_kernel<<<std::min(useful, count_multiprocessors() * BLOCKS_PER_SM), BLOCK>>>(rows, bins);
    CUDA_CHECK(cudaGetLastError());
}
