// Wrong on purpose: the bins are never set to 0.
#include "labs/image_histogram/lab.h"

__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[pixels[i]], 1u);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    if (n == 0) return;
    count<<<(n + 255) / 256, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
