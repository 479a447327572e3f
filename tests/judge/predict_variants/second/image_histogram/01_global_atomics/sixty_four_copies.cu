// Blocks take turns on 64 copies of the bins in global memory, and a second kernel adds the copies.

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

constexpr unsigned copies = 64;

__global__ void count_kernel(const unsigned char* pixels, unsigned* counts, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&counts[blockIdx.x % copies * bin_count + pixels[i]], 1u);
}

__global__ void add_kernel(const unsigned* counts, unsigned* bins) {
    unsigned sum = 0;
    for (unsigned k = 0; k < copies; ++k) sum += counts[k * bin_count + threadIdx.x];
    bins[threadIdx.x] = sum;
}

std::size_t image_histogram_scratch_bytes(std::size_t /*n*/) { return copies * bin_count * sizeof(unsigned); }

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* scratch) {
    auto* counts = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemset(counts, 0, copies * bin_count * sizeof(unsigned)));
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    if (n > 0) {
        count_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(pixels, counts, n);
        CUDA_CHECK(cudaGetLastError());
    }
    add_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
