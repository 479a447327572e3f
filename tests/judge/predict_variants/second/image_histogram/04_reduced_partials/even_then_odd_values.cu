// Two loops over all pixels, a word of four at a time: the first counts even values, the second one odd values.

#include <algorithm>

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 8
#endif

__global__ void count_kernel(const unsigned char* pixels, unsigned* partials, std::size_t n) {
    // The first loop counts even values, the second one odd values; both read all pixels.
    __shared__ unsigned block_bins[bin_count / 2];
    const std::size_t threads = std::size_t{gridDim.x} * BLOCK, words = n / 4;
    const std::size_t thread = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    for (unsigned odd = 0; odd < 2; ++odd) {
        for (int bin = threadIdx.x; bin < bin_count / 2; bin += BLOCK) block_bins[bin] = 0;
        __syncthreads();
        for (std::size_t i = thread; i < words; i += threads) {
            const unsigned word = reinterpret_cast<const unsigned*>(pixels)[i];
            for (unsigned shift = 0; shift < 32; shift += 8)
                if ((word >> shift & 1) == odd) atomicAdd(&block_bins[(word >> shift & 255) / 2], 1u);
        }
        const std::size_t rest = words * 4 + thread;  // up to three pixels
        if (rest < n && pixels[rest] % 2 == odd) atomicAdd(&block_bins[pixels[rest] / 2], 1u);
        __syncthreads();
        for (int bin = threadIdx.x; bin < bin_count / 2; bin += BLOCK)
            partials[blockIdx.x * bin_count + 2 * bin + odd] = block_bins[bin];
        __syncthreads();
    }
}

// Block b adds partial b + half to partial b, with one thread per bin.
__global__ void add_kernel(unsigned* partials, unsigned half) {
    partials[blockIdx.x * bin_count + threadIdx.x] += partials[(blockIdx.x + half) * bin_count + threadIdx.x];
}

unsigned count_blocks(std::size_t n) {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t most = static_cast<std::size_t>(multiprocessors) * BLOCKS_PER_SM;
    return static_cast<unsigned>(std::clamp<std::size_t>((n + BLOCK - 1) / BLOCK, 1, most));
}

std::size_t image_histogram_scratch_bytes(std::size_t n) {
    return std::size_t{count_blocks(n)} * bin_count * sizeof(unsigned);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* scratch) {
    unsigned* partials = static_cast<unsigned*>(scratch);
    const unsigned blocks = count_blocks(n);  // at least one block, which writes the zeros of an empty picture
    count_kernel<<<blocks, BLOCK>>>(pixels, partials, n);
    CUDA_CHECK(cudaGetLastError());
    for (unsigned left = blocks; left > 1;) {
        const unsigned half = (left + 1) / 2;  // if their number is odd, the middle one stays as it is
        add_kernel<<<left - half, bin_count>>>(partials, half);
        CUDA_CHECK(cudaGetLastError());
        left = half;
    }
    CUDA_CHECK(cudaMemcpyAsync(bins, partials, bin_count * sizeof(unsigned), cudaMemcpyDeviceToDevice));
}
