// Wrong on purpose: the third byte of a word is counted twice, and the fourth never.
#include "labs/image_histogram/lab.h"

__device__ void count_word(unsigned* bins, unsigned word) {
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(&bins[word >> (shift < 24 ? shift : 16) & 255], 1u);
}

__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n / 4) count_word(bins, reinterpret_cast<const unsigned*>(pixels)[i]);
    if (blockIdx.x == 0 && threadIdx.x < n % 4) atomicAdd(&bins[pixels[n / 4 * 4 + threadIdx.x]], 1u);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    if (n == 0) return;
    count<<<(n / 4 + 256) / 256, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
