// There is a block of 256 threads for each row (at most 65,535), and each adds all its bins to the sums.

#include <algorithm>

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();

    for (std::size_t y = blockIdx.x; y < height; y += gridDim.x)
        for (std::size_t x = threadIdx.x; x < width; x += BLOCK) count(own, input[y * pitch + x]);
    __syncthreads();

    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) atomicAdd(&counts[b], own[b]);
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
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>(height, 65535));
    count_kernel<<<blocks, BLOCK>>>(input, counts, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
