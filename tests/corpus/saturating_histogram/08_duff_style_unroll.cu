#include "labs/saturating_histogram/lab.h"

#define BDIMX 128

__global__ void histUnroll4(const uint32_t *__restrict__ in, unsigned int *__restrict__ counts, size_t nx, size_t ny, size_t pitch)
{
    __shared__ unsigned int smem[bin_count];
    for (int i = threadIdx.x; i < bin_count; i += BDIMX) smem[i] = 0;
    __syncthreads();

    for (size_t iy = blockIdx.y; iy < ny; iy += gridDim.y)
    {
        const uint32_t *row = in + iy * pitch;
        size_t ix = threadIdx.x;
        for (; ix + 3 * BDIMX < nx; ix += 4 * BDIMX)
        {
            uint32_t v0 = __ldg(row + ix);
            uint32_t v1 = __ldg(row + ix + BDIMX);
            uint32_t v2 = __ldg(row + ix + 2 * BDIMX);
            uint32_t v3 = __ldg(row + ix + 3 * BDIMX);
            atomicAdd(&smem[v0], 1u);
            atomicAdd(&smem[v1], 1u);
            atomicAdd(&smem[v2], 1u);
            atomicAdd(&smem[v3], 1u);
        }
        for (; ix < nx; ix += BDIMX) atomicAdd(&smem[__ldg(row + ix)], 1u);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < bin_count; i += BDIMX) atomicAdd(&counts[i], smem[i]);
}

__global__ void saturate(const unsigned int *counts, uint8_t *bins)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bin_count) bins[i] = (uint8_t)umin(counts[i], 255);
}

size_t saturating_histogram_scratch_bytes(size_t, size_t) { return bin_count * sizeof(unsigned int); }

void saturating_histogram(const uint32_t *in, uint8_t *bins, size_t nx, size_t ny, size_t pitch, void *scratch)
{
    unsigned int *counts = (unsigned int *)scratch;
    CUDA_CHECK(cudaMemset(counts, 0, bin_count * sizeof(unsigned int)));
    dim3 grid(1, 96);
    histUnroll4<<<grid, BDIMX>>>(in, counts, nx, ny, pitch);
    saturate<<<8, 128>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
