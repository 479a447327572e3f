// The block goes through the values four times, and each time counts those in one quarter of the bins.

#include "labs/large_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif

// Adds 1 to a bin, unless the bin has reached the cap.
__device__ void count(unsigned* words, unsigned bin) {
    unsigned* word = words + bin / 4;
    const unsigned shift = bin % 4 * 8;
    unsigned seen = *const_cast<volatile unsigned*>(word);  // volatile: read from the L2, like atomics, not the L1
    while ((seen >> shift & 255) < soft_cap) {
        const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;  // another thread was faster: try again with its value
    }
}

// bins is a multiple of 16.
__device__ void clear(unsigned char* histogram, unsigned bins) {
    auto* vectors = reinterpret_cast<uint4*>(histogram);
    for (unsigned i = threadIdx.x; i < bins / sizeof(uint4); i += BLOCK) vectors[i] = make_uint4(0, 0, 0, 0);
}

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    values += blockIdx.x * n;
    unsigned char* histogram = all_bins + std::size_t{blockIdx.x} * bins;
    clear(histogram, bins);
    __syncthreads();  // only this block counts here, so no other block has to wait for the zeros
    auto* words = reinterpret_cast<unsigned*>(histogram);
    const unsigned quarter = bins / 4;
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned first = k * quarter;
        for (std::size_t i = threadIdx.x; i < n; i += BLOCK)
            if (values[i] - first < quarter) count(words, values[i]);
        __syncthreads();
    }
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
