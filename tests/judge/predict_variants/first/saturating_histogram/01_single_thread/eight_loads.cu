// The thread loads eight elements into registers before it counts the first of them.

#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    for (unsigned b = 0; b < bin_count; ++b) bins[b] = 0;  // they hold garbage
    for (std::size_t y = 0; y < height; ++y) {
        const std::uint32_t* row = input + y * pitch;
        std::size_t x = 0;
        for (; x + 8 <= width; x += 8) {
            std::uint32_t values[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) values[k] = row[x + k];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (bins[values[k]] < bin_full) ++bins[values[k]];
        }
        for (; x < width; ++x)
            if (bins[row[x]] < bin_full) ++bins[row[x]];
    }
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
