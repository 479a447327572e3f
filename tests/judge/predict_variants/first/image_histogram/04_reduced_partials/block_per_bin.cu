// The second kernel has a block for each bin: its threads read that bin of all partials, 1 KB apart.

#include <algorithm>

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 8
#endif

__global__ void count_kernel(const unsigned char* pixels, unsigned* partials, std::size_t n) {
    __shared__ unsigned block_bins[bin_count];
    for (int bin = threadIdx.x; bin < bin_count; bin += BLOCK) block_bins[bin] = 0;
    __syncthreads();
    const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
    for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads)
        atomicAdd(&block_bins[pixels[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bin_count; bin += BLOCK) partials[blockIdx.x * bin_count + bin] = block_bins[bin];
}

__global__ void add_kernel(const unsigned* partials, unsigned count, unsigned* bins) {
    __shared__ unsigned sums[BLOCK];
    unsigned sum = 0;
    for (unsigned p = threadIdx.x; p < count; p += BLOCK) sum += partials[p * bin_count + blockIdx.x];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) bins[blockIdx.x] = sums[0];
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
    add_kernel<<<bin_count, BLOCK>>>(partials, blocks, bins);
    CUDA_CHECK(cudaGetLastError());
}
