// A bin in the window is a word of 32 bits, which an atomic addition counts: no exchange, but fewer bins.

#include <cstdio>

#include "labs/large_histogram/lab.h"

#ifndef WINDOW_KB  // of shared memory, where the device has as much
#define WINDOW_KB 216
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif
constexpr unsigned usual_width = 288;  // about 1.5 times as wide as high, as the values lie

// Adds 1 to a bin's byte in global memory, unless the bin has reached the cap; its word was read a moment ago.
__device__ void count_outside(unsigned* histogram, unsigned bin) {
    unsigned* const word = histogram + bin / 4;
    const unsigned shift = bin % 4 * 8;
    unsigned seen = *const_cast<volatile unsigned*>(word);
    while ((seen >> shift & 255) < soft_cap) {
        const unsigned found = atomicCAS(word, seen, seen + (1u << shift));
        if (found == seen) return;
        seen = found;
    }
}

// A histogram. Rows first_row … first_row + height - 1, columns first_column … first_column + width - 1, are in the
// window.
struct Region {
    unsigned* histogram;
    unsigned* window;
    unsigned column_bits, rows;
    unsigned first_column, first_row, width, height;

    __device__ unsigned columns() const { return 1u << column_bits; }

    __device__ void count(unsigned bin) const {
        const unsigned x = (bin & (columns() - 1)) - first_column, y = (bin >> column_bits) - first_row;
        if (x < width && y < height)
            atomicAdd(&window[y * width + x], 1u);
        else
            count_outside(histogram, bin);
    }

    // Writes zeros, 16 bytes at a time.
    __device__ void clear() const {
        for (unsigned i = threadIdx.x; i < rows * (columns() / 16); i += BLOCK) row(0)[i] = make_uint4(0, 0, 0, 0);
        for (unsigned i = threadIdx.x; i < width * height; i += BLOCK) window[i] = 0;
    }

    __device__ void store_window() const {
        const unsigned row_words = width / 4;  // of the histogram
        for (unsigned i = threadIdx.x; i < height * row_words; i += BLOCK) {
            const unsigned* four = window + i * 4;
            unsigned word = 0;
            for (unsigned k = 0; k < 4; ++k) word |= min(four[k], soft_cap) << (8 * k);
            reinterpret_cast<unsigned*>(row(first_row + i / row_words))[first_column / 4 + i % row_words] = word;
        }
    }

    __device__ uint4* row(unsigned r) const { return reinterpret_cast<uint4*>(histogram) + r * (columns() / 16); }
};

__device__ void count_one(const Region& region, unsigned value) { region.count(value); }

__device__ void count_four(const Region& region, uint4 four) {
    region.count(four.x);
    region.count(four.y);
    region.count(four.z);
    region.count(four.w);
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

// The mean column and row of up to BLOCK values, spread over all of them.
__device__ uint2 find_centre(const unsigned* values, std::size_t n, const Region& region) {
    __shared__ unsigned sum_x, sum_y;
    const unsigned samples = n < BLOCK ? static_cast<unsigned>(n) : BLOCK;
    if (samples == 0) return make_uint2(0, 0);
    if (threadIdx.x == 0) sum_x = sum_y = 0;
    __syncthreads();
    if (threadIdx.x < samples) {
        const unsigned bin = values[threadIdx.x * (n / samples)];
        atomicAdd(&sum_x, bin & (region.columns() - 1));
        atomicAdd(&sum_y, bin >> region.column_bits);
    }
    __syncthreads();
    return make_uint2(sum_x / samples, sum_y / samples);
}

// Returns the beginning of a window of `size` whose middle is at `centre`, so that no part of it is beyond `all`.
__device__ unsigned place_around(unsigned centre, unsigned size, unsigned all) {
    const unsigned first = centre < size / 2 ? 0 : centre - size / 2;
    return min(first, all - size);
}

__device__ void place_window(Region& region, uint2 centre, unsigned window_bytes) {
    region.width = min(region.columns(), usual_width);
    region.height = min(region.rows, window_bytes / 4 / region.width);
    region.first_column = place_around(centre.x, region.width, region.columns()) / 16 * 16;
    region.first_row = place_around(centre.y, region.height, region.rows);
}

// The window's size is known at run time, so its memory comes with the launch. The 1 tells the compiler that one block
// per multiprocessor is enough, so that each thread can have more registers.
__global__ void __launch_bounds__(BLOCK, 1)
    large_histogram_kernel(const unsigned* values, unsigned char* all_bins, std::size_t n, unsigned columns,
                           unsigned rows, unsigned window_bytes) {
    extern __shared__ uint4 window[];
    Region region{};
    region.histogram = reinterpret_cast<unsigned*>(all_bins + std::size_t{blockIdx.x} * rows * columns);
    region.window = reinterpret_cast<unsigned*>(window);
    region.column_bits = __ffs(static_cast<int>(columns)) - 1;
    region.rows = rows;
    values += blockIdx.x * n;
    place_window(region, find_centre(values, n, region), window_bytes);
    region.clear();
    __syncthreads();
    count_all(region, values, n);
    __syncthreads();
    region.store_window();
}

unsigned window_bytes;  // of shared memory, per block

// Finds out how large a window can be on this device, and allows the kernel to use as much.
void large_histogram_prepare(unsigned /*histograms*/, std::size_t /*n*/, unsigned /*columns*/, unsigned /*rows*/) {
    int device, limit;
    cudaFuncAttributes kernel;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CUDA_CHECK(cudaFuncGetAttributes(&kernel, large_histogram_kernel));
    window_bytes = static_cast<unsigned>(limit - static_cast<int>(kernel.sharedSizeBytes)) / 16 * 16;
    if (window_bytes < WINDOW_KB * 1024)
        std::fprintf(stderr, "This device has %u bytes of shared memory for the window, not %u: it gets smaller.\n",
                     window_bytes, WINDOW_KB * 1024);
    else
        window_bytes = WINDOW_KB * 1024;
    CUDA_CHECK(cudaFuncSetAttribute(large_histogram_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(window_bytes)));
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* /*scratch*/) {
    large_histogram_kernel<<<histograms, BLOCK, window_bytes>>>(values, bins, n, columns, rows, window_bytes);
    CUDA_CHECK(cudaGetLastError());
}
