#include "labs/image_histogram/lab.h"

__global__ void childHistogram(const unsigned char *pixels, unsigned int *bins, size_t n)
{
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&own[pixels[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void parent(const unsigned char *pixels, unsigned int *bins, size_t n)
{
    bins[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0 && n > 0)
    {
        unsigned int blocks = n < 16384 ? 1 : 32;
        childHistogram<<<blocks, 256>>>(pixels, bins, n);
    }
}

void image_histogram(const unsigned char *pixels, unsigned int *bins, size_t n, void *)
{
    parent<<<1, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
