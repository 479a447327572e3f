// The block collects the values of its share in a queue in shared memory, and counts them when it is full.

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

// This block's share: bins first … first + count - 1 of the histogram. first and count are multiples of 16.
struct Share {
    unsigned first, count;

    __device__ bool owns(unsigned bin) const { return bin - first < count; }  // huge if bin < first
};

// Returns part number `share` of the bins. `bins` is a multiple of 16, but perhaps not of a larger power of two.
__device__ Share find_share(unsigned bins, unsigned share) {
    const unsigned vectors = bins / 16;
    const unsigned first = vectors * share / SPLIT, end = vectors * (share + 1) / SPLIT;
    return {first * 16, (end - first) * 16};
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
    // Clear only this block's share: other blocks may already count in theirs, and no barrier here makes them wait.
    clear(histogram + share.first, share.count);
    __syncthreads();
    auto* words = reinterpret_cast<unsigned*>(histogram);
    __shared__ unsigned queue[2 * BLOCK], queued;
    if (threadIdx.x == 0) queued = 0;
    __syncthreads();
    for (std::size_t first = 0; first < n; first += BLOCK) {  // the same for all threads
        const std::size_t i = first + threadIdx.x;
        if (i < n && share.owns(values[i])) queue[atomicAdd(&queued, 1u)] = values[i];
        __syncthreads();
        const bool full = queued >= BLOCK;
        if (full) count(words, queue[queued - BLOCK + threadIdx.x]);
        __syncthreads();
        if (full && threadIdx.x == 0) queued -= BLOCK;
        __syncthreads();
    }
    if (threadIdx.x < queued) count(words, queue[threadIdx.x]);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
