// The blocks of a histogram share its values instead of its bins; a memset clears all bins before.

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

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const unsigned h = blockIdx.x / SPLIT;

    values += h * n;
    unsigned char* histogram = all_bins + std::size_t{h} * bins;

    auto* words = reinterpret_cast<unsigned*>(histogram);
    const std::size_t first = blockIdx.x % SPLIT * BLOCK + threadIdx.x;
    for (std::size_t i = first; i < n; i += SPLIT * BLOCK) count(words, values[i]);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    CUDA_CHECK(cudaMemsetAsync(bins, 0, std::size_t{histograms} * columns * rows));
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
