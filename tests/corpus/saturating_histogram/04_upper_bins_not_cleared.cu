#include "labs/saturating_histogram/lab.h"

__global__ void count(const uint32_t* in, uint8_t* bins, size_t w, size_t h, size_t pitch)
{
    __shared__ unsigned own[1024];
    if (threadIdx.x < 1024) own[threadIdx.x] = 0;
    __syncthreads();
    for (size_t y = 0; y < h; ++y)
        for (size_t x = threadIdx.x; x < w; x += blockDim.x)
            atomicAdd(&own[in[y * pitch + x]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 1024; b += blockDim.x)
        bins[b] = min(own[b], 255u);
}

void saturating_histogram(const uint32_t* in, uint8_t* bins, size_t w, size_t h, size_t pitch, void*)
{
    count<<<1, 256>>>(in, bins, w, h, pitch);
    CUDA_CHECK(cudaGetLastError());
}
