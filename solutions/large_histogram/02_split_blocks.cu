// SPLIT blocks for each histogram. Each block reads all values of its histogram, and counts those that belong to its
// share of the bins. So the blocks read SPLIT times as much, mostly from the L2 cache. But at any time, they update
// only 1 / SPLIT as many histograms, and if these fit into the L2 cache, an update need not read its bin from memory.

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

    //@ begin
    __device__ bool owns(unsigned bin) const { return bin - first < count; }  // huge if bin < first
    //@ starter
    //@ // TODO: return whether a bin belongs to this block.
    //@ __device__ bool owns(unsigned /*bin*/) const { return false; }
    //@ end
};

// Returns part number `share` of the bins. `bins` is a multiple of 16, but perhaps not of a larger power of two.
__device__ Share find_share(unsigned bins, unsigned share) {
    //@ begin
    const unsigned vectors = bins / 16;
    const unsigned first = vectors * share / SPLIT, end = vectors * (share + 1) / SPLIT;
    return {first * 16, (end - first) * 16};
    //@ starter
    //@ // TODO: divide the groups of 16 bins (there are bins / 16) into SPLIT parts that cover all groups, even if
    //@ // SPLIT does not divide their number.
    //@ return (void)bins, (void)share, Share{0, 0};
    //@ end
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
    //@ begin
    auto* words = reinterpret_cast<unsigned*>(histogram);
    for (std::size_t i = threadIdx.x; i < n; i += BLOCK) {
        const unsigned bin = values[i];
        if (share.owns(bin)) count(words, bin);
    }
    //@ starter
    //@ // TODO: go through all n values, as in stage 01, and count those whose bins this block owns.
    //@ (void)values, (void)n;
    //@ end
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
