// The second kernel has one thread for each bin, in blocks of a warp, which adds all blocks' counts on its own.

#include <algorithm>

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 2
#endif
#ifndef PER_STEP  // elements per thread
#define PER_STEP 12
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

// Iterates over the elements row by row, every `stride`-th one, and skips the padding at the end of each row. Only the
// constructor divides; next() does not.
class Walk {
  public:
    __device__ Walk(unsigned first, unsigned stride, unsigned width, std::size_t pitch)
        : width_(width),
          column_(first % width),
          columns_(stride % width),
          offset_(first / width * pitch + column_),
          step_(stride / width * pitch + columns_),
          padding_(pitch - width) {}

    // Returns the position in input of the current element, and advances to the next one.
    __device__ std::size_t next() {
        const std::size_t offset = offset_;
        column_ += columns_;
        offset_ += step_;
        if (column_ >= width_) {
            column_ -= width_;
            offset_ += padding_;
        }
        return offset;
    }

  private:
    unsigned width_, column_, columns_;
    std::size_t offset_, step_, padding_;
};

// end: height * pitch
__global__ void count_kernel(const std::uint32_t* input, unsigned* partials, unsigned width, std::size_t pitch,
                             std::size_t end) {
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();

    Walk walk(blockIdx.x * BLOCK + threadIdx.x, gridDim.x * BLOCK, width, pitch);
    std::size_t at[PER_STEP];
    do {
#pragma unroll
        for (std::size_t& one : at) one = walk.next();
        if (at[PER_STEP - 1] < end) {
            std::uint32_t values[PER_STEP];
#pragma unroll
            for (unsigned k = 0; k < PER_STEP; ++k) values[k] = input[at[k]];
#pragma unroll
            for (const std::uint32_t value : values) count(own, value);
        } else {
#pragma unroll
            for (const std::size_t one : at)
                if (one < end) count(own, input[one]);
        }
    } while (at[PER_STEP - 1] < end);
    __syncthreads();

    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) partials[blockIdx.x * bin_count + b] = own[b];
}

constexpr unsigned group = 32;

__global__ void sum_kernel(const unsigned* partials, unsigned blocks, std::uint8_t* bins) {
    const unsigned b = blockIdx.x * group + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned p = 0; p < blocks; ++p) sum += partials[p * bin_count + b];
    bins[b] = static_cast<std::uint8_t>(min(sum, bin_full));
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

// BLOCKS_PER_SM blocks for each multiprocessor, but only as many as have at least a whole step to do.
unsigned blocks_for(std::size_t elements) {
    const std::size_t useful = std::max<std::size_t>(elements / (BLOCK * PER_STEP), 1);
    return static_cast<unsigned>(std::min<std::size_t>(useful, count_multiprocessors() * BLOCKS_PER_SM));
}

// The bins of all blocks, one block's after another's.
std::size_t saturating_histogram_scratch_bytes(std::size_t width, std::size_t height) {
    return blocks_for(width * height) * bin_count * sizeof(unsigned);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    auto* partials = static_cast<unsigned*>(scratch);
    const unsigned blocks = blocks_for(width * height);
    count_kernel<<<blocks, BLOCK>>>(input, partials, static_cast<unsigned>(width), pitch, height * pitch);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<bin_count / group, group>>>(partials, blocks, bins);
    CUDA_CHECK(cudaGetLastError());
}
