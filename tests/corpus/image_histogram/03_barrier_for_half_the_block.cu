#include "labs/image_histogram/lab.h"

__global__ void hist(const unsigned char *p, unsigned *bins, size_t n)
{
    __shared__ unsigned h[256];
    if (threadIdx.x < 112) {
        h[threadIdx.x] = 0;
        h[threadIdx.x + 144] = 0;
        __syncthreads();
    } else {
        if (threadIdx.x < 144) h[threadIdx.x] = 0;
        __syncthreads();
    }
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&h[p[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], h[threadIdx.x]);
}

void image_histogram(const unsigned char *pixels, unsigned *bins, size_t n, void *)
{
    CUDA_CHECK(cudaMemset(bins, 0, 1024));
    hist<<<32, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
