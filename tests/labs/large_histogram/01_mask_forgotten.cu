// What is compared with the cap are the bin and all later ones of its word.

#include "labs/large_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif

// One more in a bin, unless it has reached the cap.
__device__ void count(unsigned* words, unsigned bin) {
    unsigned* word = words + bin / 4;
    const unsigned shift = bin % 4 * 8;
    unsigned seen = *const_cast<volatile unsigned*>(word);
    while ((seen >> shift) < soft_cap) {
        const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
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
    __syncthreads();  // only this block's threads count here: nobody else has to wait for the zeros
    for (std::size_t i = threadIdx.x; i < n; i += BLOCK) count(reinterpret_cast<unsigned*>(histogram), values[i]);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
