// A block owns every fourth group of 16 bins, so its clearing writes 16 of every 64 bytes.

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

// Groups of 16 bins: this block owns groups number, number + SPLIT, …
struct Share {
    unsigned number;

    __device__ bool owns(unsigned bin) const { return bin / 16 % SPLIT == number; }
};

__device__ void clear(unsigned char* histogram, unsigned bins, Share share) {
    auto* vectors = reinterpret_cast<uint4*>(histogram);
    for (unsigned i = threadIdx.x * SPLIT + share.number; i < bins / sizeof(uint4); i += BLOCK * SPLIT)
        vectors[i] = make_uint4(0, 0, 0, 0);
}

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const unsigned h = blockIdx.x / SPLIT;
    const Share share{blockIdx.x % SPLIT};
    values += h * n;
    unsigned char* histogram = all_bins + std::size_t{h} * bins;
    // Clear only this block's share: other blocks may already count in theirs, and no barrier here makes them wait.
    clear(histogram, bins, share);
    __syncthreads();
    auto* words = reinterpret_cast<unsigned*>(histogram);
    for (std::size_t i = threadIdx.x; i < n; i += BLOCK) {
        const unsigned bin = values[i];
        if (share.owns(bin)) count(words, bin);
    }
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
