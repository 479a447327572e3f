#include "labs/saturating_histogram/lab.h"

__global__ void count(const uint32_t *in, unsigned *sums, size_t w, size_t h, size_t pitch)
{
    for (size_t y = blockIdx.x; y < h; y += gridDim.x)
        for (size_t x = threadIdx.x; x < w; x += blockDim.x) atomicAdd(sums + in[y * pitch + x], 1u);
}

__global__ void narrow(const unsigned *sums, uint8_t *bins)
{
    bins[threadIdx.x] = min((uint8_t)sums[threadIdx.x], (uint8_t)255);
}

size_t saturating_histogram_scratch_bytes(size_t, size_t) { return bin_count * sizeof(unsigned); }

void saturating_histogram(const uint32_t *in, uint8_t *bins, size_t w, size_t h, size_t pitch, void *scratch)
{
    unsigned *sums = (unsigned *)scratch;
    CUDA_CHECK(cudaMemset(sums, 0, bin_count * sizeof(unsigned)));
    count<<<20, 128>>>(in, sums, w, h, pitch);
    narrow<<<1, bin_count>>>(sums, bins);
    CUDA_CHECK(cudaGetLastError());
}
