#include "labs/image_histogram/lab.h"

#define COPIES 64   /* two columns per lane: one for even, one for odd warps */
#define SMEM_BYTES (COPIES * bin_count * sizeof(unsigned int))

__global__ void __launch_bounds__(512) hist64(const unsigned char *pixels, unsigned int *bins, size_t n)
{
    extern __shared__ unsigned int columns[];
    const unsigned int column = threadIdx.x % COPIES;

    for (unsigned int i = threadIdx.x; i < COPIES * bin_count; i += blockDim.x) columns[i] = 0;
    __syncthreads();

    const uint4 *v = reinterpret_cast<const uint4 *>(pixels);
    const size_t vectors = n / 16;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < vectors; i += (size_t)gridDim.x * blockDim.x)
    {
        const uint4 four = __ldcs(&v[i]);
        const unsigned int words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int w = 0; w < 4; w++)
#pragma unroll
            for (int s = 0; s < 32; s += 8)
                atomicAdd(&columns[((words[w] >> s) & 255) * COPIES + column], 1u);
    }
    if (blockIdx.x == gridDim.x - 1)
        for (size_t i = vectors * 16 + threadIdx.x; i < n; i += blockDim.x)
            atomicAdd(&columns[pixels[i] * COPIES + column], 1u);
    __syncthreads();

    for (unsigned int b = threadIdx.x; b < bin_count; b += blockDim.x)
    {
        unsigned int sum = 0;
        for (unsigned int c = 0; c < COPIES; c++) sum += columns[b * COPIES + (c + threadIdx.x) % COPIES];
        if (sum) atomicAdd(&bins[b], sum);
    }
}

void image_histogram(const unsigned char *pixels, unsigned int *bins, size_t n, void *)
{
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(unsigned int)));
    CUDA_CHECK(cudaFuncSetAttribute(hist64, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES));
    hist64<<<64, 512, SMEM_BYTES>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
