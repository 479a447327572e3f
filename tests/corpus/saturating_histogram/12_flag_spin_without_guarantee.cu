#include "labs/saturating_histogram/lab.h"

__device__ unsigned totals[bin_count];
__device__ int ready = 0;
__device__ unsigned done = 0;

__global__ void hist(const uint32_t *in, uint8_t *bins, size_t w, size_t h, size_t pitch)
{
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) {
        own[b] = 0;
        if (blockIdx.x == 0) totals[b] = 0;
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) ready = 1;
    for (size_t y = blockIdx.x; y < h; y += gridDim.x)
        for (size_t x = threadIdx.x; x < w; x += blockDim.x) atomicAdd(&own[in[y * pitch + x]], 1u);
    __syncthreads();

    if (threadIdx.x == 0)
        while (ready == 0) { }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) atomicAdd(&totals[b], own[b]);
    __threadfence();
    __syncthreads();

    __shared__ bool last;
    if (threadIdx.x == 0) last = atomicAdd(&done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x)
            bins[b] = min(*(volatile unsigned *)&totals[b], bin_full);
        if (threadIdx.x == 0) done = ready = 0;
    }
}

void saturating_histogram(const uint32_t *in, uint8_t *bins, size_t w, size_t h, size_t pitch, void *)
{
    hist<<<8, 256>>>(in, bins, w, h, pitch);
    CUDA_CHECK(cudaGetLastError());
}
