// Wrong on purpose: counters of 8 bits, one for each lane and value, wrap around at 256.
#include "labs/image_histogram/lab.h"

__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned char counts[256 * 32];
    for (int k = threadIdx.x; k < 256 * 32; k += 32) counts[k] = 0;
    __syncthreads();
    for (std::size_t i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32)
        ++counts[pixels[i] * 32 + threadIdx.x];
    __syncthreads();
    for (int v = threadIdx.x; v < 256; v += 32) {
        unsigned sum = 0;
        for (int lane = 0; lane < 32; ++lane) sum += counts[v * 32 + lane];
        atomicAdd(&bins[v], sum);
    }
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    if (n == 0) return;
    count<<<4, 32>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
