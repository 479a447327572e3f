// The block stores its vectors in shared memory, waits, and counts their elements from there, a neighbour each.

#include <algorithm>

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 2
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

constexpr unsigned vector_elements = 4;

constexpr unsigned none = ~0u;  // in place of padding

// Iterates over the vectors row by row, every `stride`-th one, and skips those that contain only padding. width and
// pitch are in vectors.
class Walk {
  public:
    __device__ Walk(unsigned first, unsigned stride, unsigned width, std::size_t pitch)
        : width_(width),
          column_(first % width),
          columns_(stride % width),
          offset_(first / width * pitch + column_),
          step_(stride / width * pitch + columns_),
          padding_(pitch - width) {}

    __device__ unsigned column() const { return column_; }

    // Returns the position in input of the current vector, and advances to the next one.
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

// pitch and end are in vectors, width is in elements.
__global__ void count_kernel(const uint4* input, unsigned* partials, unsigned width, std::size_t pitch,
                             std::size_t end) {
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) own[b] = 0;
    __syncthreads();

    const unsigned row_vectors = (width + vector_elements - 1) / vector_elements;
    Walk walk(blockIdx.x * BLOCK + threadIdx.x, gridDim.x * BLOCK, row_vectors, pitch);
    __shared__ unsigned elements[BLOCK * vector_elements];
    bool more = true;
    while (more) {
        const unsigned left = width - walk.column() * vector_elements;  // in the row, from the vector's first on
        const std::size_t at = walk.next();
        uint4 vector = make_uint4(none, none, none, none);
        if (at < end) {
            vector = input[at];
            if (left < 2) vector.y = none;
            if (left < 3) vector.z = none;
            if (left < 4) vector.w = none;
        }
        elements[threadIdx.x * vector_elements] = vector.x;
        elements[threadIdx.x * vector_elements + 1] = vector.y;
        elements[threadIdx.x * vector_elements + 2] = vector.z;
        elements[threadIdx.x * vector_elements + 3] = vector.w;
        more = __syncthreads_or(at < end);
        for (unsigned k = threadIdx.x; k < BLOCK * vector_elements; k += BLOCK)
            if (elements[k] != none) count(own, elements[k]);
        __syncthreads();
    }
    __syncthreads();

    for (unsigned b = threadIdx.x; b < bin_count; b += BLOCK) partials[blockIdx.x * bin_count + b] = own[b];
}

// A block of 32 x 32 threads adds up 32 bins. threadIdx.x selects the bin, so a warp reads neighbouring bins;
// threadIdx.y takes every 32nd of the blocks' partial counts.
constexpr unsigned group = 32;

__global__ void sum_kernel(const unsigned* partials, unsigned blocks, std::uint8_t* bins) {
    __shared__ unsigned sums[group][group];
    const unsigned b = blockIdx.x * group + threadIdx.x;
    unsigned sum = 0;
    for (unsigned p = threadIdx.y; p < blocks; p += group) sum += partials[p * bin_count + b];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0) return;
    for (unsigned y = 1; y < group; ++y) sum += sums[y][threadIdx.x];
    bins[b] = static_cast<std::uint8_t>(min(sum, bin_full));
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

// BLOCKS_PER_SM blocks for each multiprocessor, but at most one for each full step of elements (and at least one).
unsigned blocks_for(std::size_t elements) {
    const std::size_t useful = std::max<std::size_t>(elements / (BLOCK * vector_elements), 1);
    return static_cast<unsigned>(std::min<std::size_t>(useful, count_multiprocessors() * BLOCKS_PER_SM));
}

// Scratch holds the bins of all blocks, block after block.
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
    count_kernel<<<blocks, BLOCK>>>(reinterpret_cast<const uint4*>(input), partials, static_cast<unsigned>(width),
                                    pitch / vector_elements, height * pitch / vector_elements);
    CUDA_CHECK(cudaGetLastError());
    sum_kernel<<<bin_count / group, dim3(group, group)>>>(partials, blocks, bins);
    CUDA_CHECK(cudaGetLastError());
}
