// CUB's histogram of evenly spaced bins, on the same rows: it supports a pitch. Its bins have 32 bits and do not
// saturate. It uses shared memory only for at most 256 bins; with 1024, all its atomics are on device memory.

#include <cub/device/device_histogram.cuh>

#include "labs/saturating_histogram/lab.h"

namespace {

// If scratch is null, only set `bytes` to the size of the scratch memory that CUB needs.
void count(void* scratch, std::size_t& bytes, const std::uint32_t* input, int* counts, std::size_t width,
           std::size_t height, std::size_t pitch) {
    CUDA_CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, input, counts, static_cast<int>(bin_count) + 1,
                                                   std::uint32_t{0}, std::uint32_t{bin_count}, static_cast<int>(width),
                                                   static_cast<int>(height), pitch * sizeof(std::uint32_t)));
}

std::size_t storage_bytes(std::size_t width, std::size_t height) {
    std::size_t bytes = 0;
    count(nullptr, bytes, nullptr, nullptr, width, height, (width + 128) & ~std::size_t{127});
    return bytes;
}

constexpr std::size_t counts_bytes = bin_count * sizeof(int);  // a multiple of 256, so that the next part is aligned

}  // namespace

std::size_t saturating_histogram_scratch_bytes(std::size_t width, std::size_t height) {
    return counts_bytes + storage_bytes(width, height);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* /*bins*/, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    static const std::size_t known_bytes = storage_bytes(width, height);
    std::size_t bytes = known_bytes;
    count(static_cast<char*>(scratch) + counts_bytes, bytes, input, static_cast<int*>(scratch), width, height, pitch);
}
