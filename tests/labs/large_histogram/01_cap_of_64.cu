// Wrong on purpose: stops counting at 64.
#include "labs/large_histogram/lab.h"

__device__ void count(unsigned* words, unsigned bin) {
    unsigned* word = words + bin / 4;
    unsigned shift = bin % 4 * 8, seen = *(volatile unsigned*)word;
    while ((seen >> shift & 255) < 64) {
        unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
    }
}

__global__ void histogram(const unsigned* values, unsigned char* bins, std::size_t n, unsigned size) {
    unsigned* words = (unsigned*)(bins + std::size_t{blockIdx.x} * size);
    values += blockIdx.x * n;
    for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) count(words, values[i]);
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void*) {
    CUDA_CHECK(cudaMemset(bins, 0, std::size_t{histograms} * columns * rows));
    histogram<<<histograms, 1024>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
