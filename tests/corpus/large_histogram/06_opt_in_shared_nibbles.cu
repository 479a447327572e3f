#include <algorithm>
#include "labs/large_histogram/lab.h"

/*
 * The bins pass through shared memory in bands: for each band the block
 * clears it, reads all values, counts those in the band and stores it. No
 * atomics and no reads in global memory but for the values.
 */
__global__ void __launch_bounds__(1024) histBands(const unsigned int *values, unsigned char *bins, size_t n,
                                                  unsigned int total, unsigned int band)
{
    extern __shared__ uint4 smem[];
    unsigned int *words = (unsigned int *)smem;
    values += blockIdx.x * n;
    bins += (size_t)blockIdx.x * total;

    for (unsigned int first = 0; first < total; first += band)
    {
        const unsigned int count = min(band, total - first);
        for (unsigned int i = threadIdx.x; i < count / 4; i += blockDim.x) words[i] = 0;
        __syncthreads();

        for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        {
            const unsigned int bin = values[i] - first;
            if (bin >= count) continue;
            unsigned int *word = &words[bin / 4];
            const unsigned int shift = bin % 4 * 8;
            unsigned int seen = *(volatile unsigned int *)word;
            while (((seen >> shift) & 0xff) < soft_cap)
            {
                const unsigned int found = atomicCAS(word, seen, seen + (1u << shift));
                if (found == seen) break;
                seen = found;
            }
        }
        __syncthreads();

        uint4 *out = (uint4 *)(bins + first);
        for (unsigned int i = threadIdx.x; i < count / 16; i += blockDim.x) out[i] = smem[i];
        __syncthreads();
    }
}

void large_histogram(const unsigned int *values, unsigned char *bins, unsigned int histograms, size_t n,
                     unsigned int columns, unsigned int rows, void *)
{
    int device, limit;
    cudaFuncAttributes attr;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CUDA_CHECK(cudaFuncGetAttributes(&attr, histBands));
    const unsigned int total = columns * rows;
    const unsigned int most = (unsigned int)(limit - (int)attr.sharedSizeBytes) / 16 * 16;
    const unsigned int band = std::min(most, total);
    CUDA_CHECK(cudaFuncSetAttribute(histBands, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)band));
    histBands<<<histograms, 1024, band>>>(values, bins, n, total, band);
    CUDA_CHECK(cudaGetLastError());
}
