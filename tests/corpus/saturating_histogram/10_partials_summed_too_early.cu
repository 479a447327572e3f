#include "labs/saturating_histogram/lab.h"

#define BLOCKS 32

__global__ void all_in_one(const uint32_t *in, unsigned *partials, uint8_t *bins, size_t w, size_t h, size_t pitch)
{
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (size_t y = blockIdx.x; y < h; y += gridDim.x)
        for (size_t x = threadIdx.x; x < w; x += blockDim.x) atomicAdd(&own[in[y * pitch + x]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) partials[blockIdx.x * bin_count + b] = own[b];
    __syncthreads();   // now all partial bins are there

    // block k finishes 32 of the bins
    if (threadIdx.x < 32) {
        unsigned b = blockIdx.x * 32 + threadIdx.x, sum = 0;
        for (int p = 0; p < BLOCKS; ++p) sum += partials[p * bin_count + b];
        bins[b] = min(sum, bin_full);
    }
}

size_t saturating_histogram_scratch_bytes(size_t, size_t) { return BLOCKS * bin_count * sizeof(unsigned); }

void saturating_histogram(const uint32_t *in, uint8_t *bins, size_t w, size_t h, size_t pitch, void *scratch)
{
    all_in_one<<<BLOCKS, 256>>>(in, (unsigned *)scratch, bins, w, h, pitch);
    CUDA_CHECK(cudaGetLastError());
}
