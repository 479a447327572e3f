// Blocks have half as many threads, and reserve so much shared memory that only one fits on a multiprocessor.

#include "labs/large_histogram/lab.h"

#ifndef SPLIT  // blocks per histogram
#define SPLIT 4
#endif
#ifndef BLOCK
#define BLOCK 512
#endif
constexpr unsigned window_bytes = 46 * 1024, usual_width = 512;

// A bin's byte, in shared or in global memory.
struct Bin {
    unsigned* word;
    unsigned shift;

    __device__ unsigned look() const { return *const_cast<volatile unsigned*>(word); }
    // Adds 1, unless the bin has reached the cap; its word was read a moment ago.
    __device__ void count(unsigned seen) const {
        while ((seen >> shift & 255) < soft_cap) {
            const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
            if (found == seen) return;
            seen = found;
        }
    }
};

// This block's part of a histogram: its row r is row r * SPLIT + share of the histogram. Rows first_row … first_row
// + height - 1 of its own, columns first_column … first_column + width - 1, are in the window.
struct Region {
    unsigned* histogram;
    unsigned* window;
    unsigned share, column_bits, rows;
    unsigned first_column, first_row, width, height;

    __device__ unsigned columns() const { return 1u << column_bits; }

    __device__ bool owns(unsigned bin) const { return (bin >> column_bits) % SPLIT == share; }

    __device__ Bin find(unsigned bin) const {
        const unsigned x = (bin & (columns() - 1)) - first_column, y = (bin >> column_bits) / SPLIT - first_row;
        const bool inside = x < width && y < height;
        return {inside ? window + (y * width + x) / 4 : histogram + bin / 4, bin % 4 * 8};
    }

    // Writes zeros, 16 bytes at a time.
    __device__ void clear() const {
        const unsigned row_vectors = columns() / 16;
        for (unsigned i = threadIdx.x; i < rows * row_vectors; i += BLOCK)
            row(i >> (column_bits - 4))[i & (row_vectors - 1)] = make_uint4(0, 0, 0, 0);
        for (unsigned i = threadIdx.x; i < width * height / 16; i += BLOCK)
            reinterpret_cast<uint4*>(window)[i] = make_uint4(0, 0, 0, 0);
    }

    __device__ void store_window() const {
        const unsigned row_vectors = width / 16;
        for (unsigned i = threadIdx.x; i < height * row_vectors; i += BLOCK)
            row(first_row + i / row_vectors)[first_column / 16 + i % row_vectors] =
                reinterpret_cast<const uint4*>(window)[i];
    }

    // One of the block's rows, in the histogram.
    __device__ uint4* row(unsigned r) const {
        return reinterpret_cast<uint4*>(histogram) + (r * SPLIT + share) * (columns() / 16);
    }
};

__device__ void count_one(const Region& region, unsigned value) {
    if (!region.owns(value)) return;
    const Bin bin = region.find(value);
    bin.count(bin.look());
}

__device__ void count_four(const Region& region, uint4 four) {
    const unsigned values[4] = {four.x, four.y, four.z, four.w};
    Bin bins[4];
    unsigned seen[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (!region.owns(values[k])) continue;
        bins[k] = region.find(values[k]);
        seen[k] = bins[k].look();
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (region.owns(values[k])) bins[k].count(seen[k]);
}

// Whole vectors of four, and up to three values before and after them.
__device__ void count_all(const Region& region, const unsigned* values, std::size_t n) {
    const std::size_t misaligned = reinterpret_cast<std::size_t>(values) / sizeof(unsigned) % 4;
    const std::size_t before = (4 - misaligned) % 4, head = before < n ? before : n;
    const std::size_t vectors = (n - head) / 4, tail = head + vectors * 4;
    const auto* fours = reinterpret_cast<const uint4*>(values + head);
    for (std::size_t i = threadIdx.x; i < vectors; i += BLOCK) count_four(region, fours[i]);
    if (threadIdx.x < head) count_one(region, values[threadIdx.x]);
    if (threadIdx.x < n - tail) count_one(region, values[tail + threadIdx.x]);
}

// The window in the middle of a block's rows.
__device__ void place_window(Region& region) {
    region.width = min(region.columns(), usual_width);
    region.height = min(region.rows, window_bytes / region.width);
    region.first_column = (region.columns() - region.width) / 2 / 16 * 16;
    region.first_row = (region.rows - region.height) / 2;
}

__global__ void __launch_bounds__(BLOCK) large_histogram_kernel(const unsigned* values, unsigned char* all_bins,
                                                                std::size_t n, unsigned columns, unsigned rows) {
    __shared__ uint4 window[window_bytes / sizeof(uint4)];
    const unsigned h = blockIdx.x / SPLIT, share = blockIdx.x % SPLIT;
    Region region{};
    region.histogram = reinterpret_cast<unsigned*>(all_bins + std::size_t{h} * rows * columns);
    region.window = reinterpret_cast<unsigned*>(window);
    region.share = share;
    region.column_bits = __ffs(static_cast<int>(columns)) - 1;
    region.rows = (rows + SPLIT - 1 - share) / SPLIT;
    place_window(region);
    region.clear();
    __syncthreads();
    count_all(region, values + h * n, n);
    __syncthreads();
    region.store_window();
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    constexpr int unused = 80 * 1024;  // bytes, in addition to the window
    CUDA_CHECK(cudaFuncSetAttribute(large_histogram_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, unused));
    large_histogram_kernel<<<histograms * SPLIT, BLOCK, unused>>>(values, bins, n, columns, rows);
    CUDA_CHECK(cudaGetLastError());
}
