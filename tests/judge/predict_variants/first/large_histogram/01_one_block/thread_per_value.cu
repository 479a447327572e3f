// All bins are cleared by a memset, and then many blocks of 256 threads count one value per thread.

#include <algorithm>

#include "labs/large_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
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

__global__ void count_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i >= n) return;
    const std::size_t h = blockIdx.y;
    count(reinterpret_cast<unsigned*>(all_bins + h * bins), values[h * n + i]);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    const unsigned bins_each = columns * rows;
    CUDA_CHECK(cudaMemsetAsync(bins, 0, std::size_t{histograms} * bins_each));
    if (n == 0) return;
    constexpr unsigned most = 65535;  // blocks in y
    for (unsigned first = 0; first < histograms; first += most) {
        const dim3 grid(static_cast<unsigned>((n + BLOCK - 1) / BLOCK), std::min(most, histograms - first));
        count_kernel<<<grid, BLOCK>>>(values + first * n, bins + std::size_t{first} * bins_each, n, bins_each);
        CUDA_CHECK(cudaGetLastError());
    }
}
