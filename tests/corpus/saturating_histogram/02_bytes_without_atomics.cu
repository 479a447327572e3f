#include "labs/saturating_histogram/lab.h"

__global__ void count(const uint32_t* in, uint8_t* bins, size_t w, size_t h, size_t pitch)
{
    size_t n = w * h, share = (n + blockDim.x - 1) / blockDim.x;
    size_t begin = threadIdx.x * share, end = begin + share < n ? begin + share : n;
    for (size_t i = begin; i < end; ++i) {
        uint32_t v = in[i / w * pitch + i % w];
        if (bins[v] < 255) bins[v]++;
    }
}

void saturating_histogram(const uint32_t* in, uint8_t* bins, size_t w, size_t h, size_t pitch, void*)
{
    CUDA_CHECK(cudaMemset(bins, 0, 1024));
    if (w * h == 0) return;
    count<<<1, 256>>>(in, bins, w, h, pitch);
    CUDA_CHECK(cudaGetLastError());
}
