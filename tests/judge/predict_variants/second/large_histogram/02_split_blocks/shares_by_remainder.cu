// A share is every fourth word of a histogram, so all four blocks work on the whole histogram at the same time.

#include "labs/large_histogram/lab.h"

#ifndef SPLIT  // blocks per histogram
#define SPLIT 4
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif

// Adds 1 to a bin, unless the bin has reached the cap.
__device__ void count(unsigned* words, unsigned bin) {
    unsigned* word = words + bin / 4;
    const unsigned shift = bin % 4 * 8;
    unsigned seen = *const_cast<volatile unsigned*>(word);
    while ((seen >> shift & 255) < soft_cap) {
        const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
    }
}

// Words share, share + SPLIT … are this block's.
__device__ bool owns(unsigned bin, unsigned share) { return bin / 4 % SPLIT == share; }

__device__ void clear(unsigned* words, unsigned count, unsigned share) {
    for (unsigned i = threadIdx.x * SPLIT + share; i < count; i += BLOCK * SPLIT) words[i] = 0;
}

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const unsigned h = blockIdx.x / SPLIT;
    const unsigned share = blockIdx.x % SPLIT;
    values += h * n;
    unsigned char* histogram = all_bins + std::size_t{h} * bins;
    auto* words = reinterpret_cast<unsigned*>(histogram);
    clear(words, bins / 4, share);
    __syncthreads();
    for (std::size_t i = threadIdx.x; i < n; i += BLOCK) {
        const unsigned bin = values[i];
        if (owns(bin, share)) count(words, bin);
    }
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
