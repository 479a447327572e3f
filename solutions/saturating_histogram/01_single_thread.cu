// One thread counts everything. This is as slow as a GPU can be, but threads cannot disturb each other, and the code
// around the kernel is the same in later stages: allocate memory, copy the input in, copy the bins back, free memory.

#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    //@ begin
    for (unsigned b = 0; b < bin_count; ++b) bins[b] = 0;  // they hold garbage
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t value = input[y * pitch + x];
            if (bins[value] < bin_full) ++bins[value];  // 8 bits would go back to 0 after 255
        }
    //@ starter
    //@ // TODO: set all bins to 0. Then go through the rows, and through the first width elements of each, and count
    //@ // each value in its bin, unless that is full: 255 stays 255.
    //@ end
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* /*scratch*/) {
    //@ begin
    count_kernel<<<1, 1>>>(input, bins, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: launch count_kernel with a single thread, and use CUDA_CHECK(cudaGetLastError()) to test whether it
    //@ // started.
    //@ end
}

// The same for data on the host: allocate, copy in, count, copy back, free.
void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                               std::size_t pitch) {
    //@ begin
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
    //@ starter
    //@ // TODO: here the pointers are host pointers. Allocate device memory for height * pitch elements and the bins
    //@ // (cudaMalloc), copy the input there with its padding (cudaMemcpy), call saturating_histogram on the device's
    //@ // pointers (it needs no scratch: nullptr), copy the bins back, and free what you allocated.
    //@ end
}
