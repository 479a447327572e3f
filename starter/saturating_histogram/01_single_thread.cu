// One thread counts everything. As slow as a GPU can be, but there are no errors between threads, and the code around
// the kernel is complete: memory allocated, input copied in, bins copied back, memory freed.

#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    // TODO: set all bins to 0. Then go through the rows, and through the first width elements of each, and count
    // each value in its bin, unless that is full: 255 stays 255.
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* /*scratch*/) {
    // TODO: launch count_kernel with a single thread, and ask cudaGetLastError, through CUDA_CHECK, whether it
    // started.
}

// The same for data on the host: allocate, copy in, count, copy back, free.
void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                               std::size_t pitch) {
    // TODO: here the pointers are the host's. Get device memory for height * pitch elements and for the bins
    // (cudaMalloc), copy the input there, padding and all (cudaMemcpy), call saturating_histogram on the device's
    // pointers (it needs no scratch: nullptr), copy the bins back, and free what you allocated.
}
