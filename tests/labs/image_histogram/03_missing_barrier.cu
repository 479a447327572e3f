// Wrong on purpose: threads add bins in which others still count.
#include "labs/image_histogram/lab.h"

__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned block_bins[256];
    block_bins[threadIdx.x] = 0;
    __syncthreads();
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&block_bins[pixels[i]], 1u);
    atomicAdd(&bins[threadIdx.x], block_bins[threadIdx.x]);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    if (n == 0) return;
    count<<<32, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
