#include "labs/saturating_histogram/lab.h"

__global__ void count(const uint32_t* in, unsigned* sums, size_t w, size_t h, size_t pitch)
{
    for (size_t y = blockIdx.x; y < h; y += gridDim.x)
        for (size_t x = threadIdx.x; x < w; x += blockDim.x)
            atomicAdd(&sums[in[y * pitch + x]], 1u);
}

__global__ void clear(unsigned* sums)
{
    sums[threadIdx.x] = 0;
}

__global__ void narrow(const unsigned* sums, uint8_t* bins)
{
    bins[threadIdx.x] = min(sums[threadIdx.x], 255u);
}

size_t saturating_histogram_scratch_bytes(size_t width, size_t height)
{
    return bin_count;
}

void saturating_histogram(const uint32_t* in, uint8_t* bins, size_t w, size_t h, size_t pitch, void* scratch)
{
    unsigned* sums = (unsigned*)scratch;
    clear<<<1, 1024>>>(sums);
    count<<<16, 256>>>(in, sums, w, h, pitch);
    narrow<<<1, 1024>>>(sums, bins);
    CUDA_CHECK(cudaGetLastError());
}
