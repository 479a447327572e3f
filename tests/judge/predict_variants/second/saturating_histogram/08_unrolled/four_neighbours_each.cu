// A thread takes four neighbouring elements per step, as single loads, and finds padding by a 64-bit remainder.

#include <algorithm>

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 2
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

// end: height * pitch
__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, unsigned width, std::size_t pitch,
                             std::size_t end) {
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();

    const std::size_t step = std::size_t{gridDim.x} * BLOCK * 4;
    for (std::size_t at = (std::size_t{blockIdx.x} * BLOCK + threadIdx.x) * 4; at < end; at += step) {
        const std::size_t x = at % pitch;  // pitch is a multiple of 4, so all four are in one row
        const std::uint32_t first = input[at], second = input[at + 1], third = input[at + 2], fourth = input[at + 3];
        if (x < width) count(own, first);
        if (x + 1 < width) count(own, second);
        if (x + 2 < width) count(own, third);
        if (x + 3 < width) count(own, fourth);
    }
    __syncthreads();

    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK)
        if (counts[b] < bin_full) atomicAdd(&counts[b], own[b]);
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    const unsigned b = threadIdx.x;
    bins[b] = static_cast<std::uint8_t>(min(counts[b], bin_full));
}

std::size_t saturating_histogram_scratch_bytes(std::size_t /*width*/, std::size_t /*height*/) {
    return bin_count * sizeof(unsigned);
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

// BLOCKS_PER_SM blocks for each multiprocessor, but only as many as have at least a whole step to do.
unsigned blocks_for(std::size_t elements) {
    const std::size_t useful = std::max<std::size_t>(elements / (BLOCK * 4), 1);
    return static_cast<unsigned>(std::min<std::size_t>(useful, count_multiprocessors() * BLOCKS_PER_SM));
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    auto* counts = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemsetAsync(counts, 0, bin_count * sizeof(unsigned)));
    count_kernel<<<blocks_for(width * height), BLOCK>>>(input, counts, static_cast<unsigned>(width), pitch,
                                                        height * pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
