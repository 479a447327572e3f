// A warp takes whole rows, every 32nd one, and its lanes step along the row by 32.

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

// end: height * pitch
__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, unsigned width, std::size_t pitch,
                             std::size_t end) {
    const unsigned lane = threadIdx.x % 32;
    for (std::size_t row = threadIdx.x / 32 * pitch; row < end; row += BLOCK / 32 * pitch)
        for (std::size_t x = lane; x < width; x += 32) count(counts, input[row + x]);
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    const unsigned b = threadIdx.x;
    bins[b] = static_cast<std::uint8_t>(counts[b] < bin_full ? counts[b] : bin_full);
}

std::size_t saturating_histogram_scratch_bytes(std::size_t /*width*/, std::size_t /*height*/) {
    return bin_count * sizeof(unsigned);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    auto* counts = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemsetAsync(counts, 0, bin_count * sizeof(unsigned)));
    count_kernel<<<1, BLOCK>>>(input, counts, static_cast<unsigned>(width), pitch, height * pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
