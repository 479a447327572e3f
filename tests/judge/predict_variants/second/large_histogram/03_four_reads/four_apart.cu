// The four values of a step are BLOCK apart and are loaded one by one, instead of by one load of 16 bytes.

#include "labs/large_histogram/lab.h"

#ifndef SPLIT  // blocks per histogram
#define SPLIT 4
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif

// Adds 1 to a bin, unless the bin has reached the cap; its word was read before.
__device__ void count(unsigned* words, unsigned bin, unsigned seen) {
    const unsigned shift = bin % 4 * 8;
    while ((seen >> shift & 255) < soft_cap) {
        const unsigned found = atomicCAS(words + bin / 4, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
    }
}

__device__ unsigned look(const unsigned* words, unsigned bin) {
    return *const_cast<const volatile unsigned*>(words + bin / 4);
}

// Bins first … first + count - 1 of the histogram are this block's; both are multiples of 16.
struct Share {
    unsigned first, count;

    __device__ bool owns(unsigned bin) const { return bin - first < count; }
};

__device__ Share find_share(unsigned bins, unsigned share) {
    const unsigned vectors = bins / 16;
    const unsigned first = vectors * share / SPLIT, end = vectors * (share + 1) / SPLIT;
    return {first * 16, (end - first) * 16};
}

__device__ void clear(unsigned char* bins, unsigned count) {
    auto* vectors = reinterpret_cast<uint4*>(bins);
    for (unsigned i = threadIdx.x; i < count / sizeof(uint4); i += BLOCK) vectors[i] = make_uint4(0, 0, 0, 0);
}

__device__ void count_if_owned(unsigned* words, Share share, unsigned bin) {
    if (share.owns(bin)) count(words, bin, look(words, bin));
}

__device__ void count_four(unsigned* words, Share share, uint4 four) {
    const unsigned bins[4] = {four.x, four.y, four.z, four.w};
    unsigned seen[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) seen[k] = share.owns(bins[k]) ? look(words, bins[k]) : 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (share.owns(bins[k])) count(words, bins[k], seen[k]);
}

__device__ void count_all(unsigned* words, Share share, const unsigned* values, std::size_t n) {
    std::size_t i = threadIdx.x;
    for (; i + 3 * BLOCK < n; i += 4 * BLOCK)
        count_four(words, share,
                   make_uint4(values[i], values[i + BLOCK], values[i + 2 * BLOCK], values[i + 3 * BLOCK]));
    for (; i < n; i += BLOCK) count_if_owned(words, share, values[i]);
}

__global__ void __launch_bounds__(BLOCK)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned bins) {
    const unsigned h = blockIdx.x / SPLIT;
    const Share share = find_share(bins, blockIdx.x % SPLIT);
    unsigned char* histogram = all_bins + std::size_t{h} * bins;
    clear(histogram + share.first, share.count);
    __syncthreads();
    count_all(reinterpret_cast<unsigned*>(histogram), share, values + h * n, n);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms * SPLIT, BLOCK>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
