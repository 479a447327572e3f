// The block goes through the input four times, and each time counts only one quarter of the values.

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
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
__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, unsigned width, std::size_t pitch,
                             std::size_t end) {
    constexpr unsigned part = bin_count / 4;
    __shared__ unsigned own[part];
    for (unsigned first = 0; first < bin_count; first += part) {
        for (unsigned b = threadIdx.x; b < part; b += BLOCK) own[b] = 0;
        __syncthreads();
        Walk walk(threadIdx.x, BLOCK, width, pitch);
        for (std::size_t at = walk.next(); at < end; at = walk.next()) {
            const std::uint32_t value = input[at];
            if (value - first < part) count(own, value - first);
        }
        __syncthreads();
        for (unsigned b = threadIdx.x; b < part; b += BLOCK) counts[first + b] = own[b];
        __syncthreads();
    }
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    const unsigned b = threadIdx.x;
    bins[b] = static_cast<std::uint8_t>(counts[b] < bin_full ? counts[b] : bin_full);
}

std::size_t saturating_histogram_scratch_bytes(std::size_t /*width*/, std::size_t /*height*/) {
    return bin_count * sizeof(unsigned);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    auto* counts = static_cast<unsigned*>(scratch);
    count_kernel<<<1, BLOCK>>>(input, counts, static_cast<unsigned>(width), pitch, height * pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
