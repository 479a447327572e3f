// The thread counts in a local array of 1024 words, and copies it to the bins at the end.

#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    unsigned counts[bin_count];
    for (unsigned& count : counts) count = 0;
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t value = input[y * pitch + x];
            if (counts[value] < bin_full) ++counts[value];
        }
    for (unsigned b = 0; b < bin_count; ++b) bins[b] = static_cast<std::uint8_t>(min(counts[b], bin_full));
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* /*scratch*/) {
    count_kernel<<<1, 1>>>(input, bins, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
}

// The same for data on the host: allocate, copy in, count, copy back, free.
void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                               std::size_t pitch) {
    const std::size_t bytes = height * pitch * sizeof(std::uint32_t);
    std::uint32_t* device_input = nullptr;
    std::uint8_t* device_bins;
    if (bytes > 0) CUDA_CHECK(cudaMalloc(&device_input, bytes));
    CUDA_CHECK(cudaMalloc(&device_bins, bin_count));
    CUDA_CHECK(cudaMemcpy(device_input, input, bytes, cudaMemcpyHostToDevice));
    saturating_histogram(device_input, device_bins, width, height, pitch, nullptr);
    CUDA_CHECK(cudaMemcpy(bins, device_bins, bin_count, cudaMemcpyDeviceToHost));  // waits until the kernel is done
    CUDA_CHECK(cudaFree(device_input));
    CUDA_CHECK(cudaFree(device_bins));
}
