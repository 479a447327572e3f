// One thread counts everything. This is as slow as a GPU can be, but threads cannot disturb each other, and the code
// around the kernel is the same in later stages: allocate memory, copy the input in, copy the bins back, free memory.

#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    // TODO: set all bins to 0. Then go through the rows, and through the first width elements of each, and count
    // each value in its bin, unless that is full: 255 stays 255.
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* /*scratch*/) {
    // TODO: launch count_kernel with a single thread, and use CUDA_CHECK(cudaGetLastError()) to test whether it
    // started.
}

// The same for data on the host: allocate, copy in, count, copy back, free.
void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                               std::size_t pitch) {
    // TODO: here the pointers are host pointers. Allocate device memory for height * pitch elements and the bins
    // (cudaMalloc), copy the input there with its padding (cudaMemcpy), call saturating_histogram on the device's
    // pointers (it needs no scratch: nullptr), copy the bins back, and free what you allocated.
}
