// Every element is an atomic: there is no test whether its bin is full.

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif

// Before a sum can reach 2^32, it goes back by 2^30; what is left is still far more than makes a bin full.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (atomicAdd(&bins[value], 1u) >= 1u << 31) atomicSub(&bins[value], 1u << 30);
}

__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    const std::size_t elements = width * height;
    const std::size_t slice = (elements + BLOCK - 1) / BLOCK;  // rounded up: the last slices may be short or empty
    const std::size_t first = threadIdx.x * slice, end = first + slice < elements ? first + slice : elements;
    std::size_t x = first % width, y = first / width;
    for (std::size_t i = first; i < end; ++i) {
        count(counts, input[y * pitch + x]);
        if (++x == width) {
            x = 0;
            ++y;
        }
    }
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
    CUDA_CHECK(cudaMemsetAsync(counts, 0, bin_count * sizeof(unsigned)));  // in every call: scratch holds garbage
    count_kernel<<<1, BLOCK>>>(input, counts, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
