// A bin is compared with the length of the share instead of its end: only the first share has bins.

#include "labs/large_histogram/lab.h"

#ifndef SPLIT  // blocks per histogram
#define SPLIT 4
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif

// One more in a bin, unless it has reached the cap.
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

// Bins first … first + count - 1 of the histogram are this block's; both are multiples of 16.
struct Share {
    unsigned first, count;

    __device__ bool owns(unsigned bin) const { return bin >= first && bin < count; }
};

// The share-th part of the bins. They are a multiple of 16, but perhaps of no larger power of two.
__device__ Share find_share(unsigned bins, unsigned share) {
    const unsigned groups = bins / 16;
    const unsigned begin = groups * share / SPLIT, end = groups * (share + 1) / SPLIT;
    return {begin * 16, (end - begin) * 16};
}

__device__ void clear(unsigned char* bins, unsigned count) {
    auto* vectors = reinterpret_cast<uint4*>(bins);
    for (unsigned i = threadIdx.x; i < count / sizeof(uint4); i += BLOCK) vectors[i] = make_uint4(0, 0, 0, 0);
}

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const unsigned h = blockIdx.x / SPLIT;
    const Share share = find_share(bins, blockIdx.x % SPLIT);
    values += h * n;
    unsigned char* histogram = all_bins + std::size_t{h} * bins;
    // Its own share, no more: other blocks may long be counting in theirs, and no barrier here makes them wait.
    clear(histogram + share.first, share.count);
    __syncthreads();
    for (std::size_t i = threadIdx.x; i < n; i += BLOCK) {
        const unsigned bin = values[i];
        if (share.owns(bin)) count(reinterpret_cast<unsigned*>(histogram), bin);
    }
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
