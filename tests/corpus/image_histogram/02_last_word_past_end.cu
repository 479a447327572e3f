#include "labs/image_histogram/lab.h"

__global__ void histo(const unsigned* words, unsigned* bins, size_t n)
{
    for (size_t i = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x); i < n; i += 4 * (size_t)gridDim.x * blockDim.x) {
        unsigned w = words[i / 4];
        for (int k = 0; k < 4 && i + k < n; ++k, w >>= 8)
            atomicAdd(&bins[w & 0xff], 1u);
    }
}

void image_histogram(const unsigned char* p, unsigned* bins, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(bins, 0, sizeof(unsigned) * 256));
    histo<<<50, 256>>>((const unsigned*)p, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
