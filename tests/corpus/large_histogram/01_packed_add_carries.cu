#include "labs/large_histogram/lab.h"

__global__ void hist(const unsigned* values, unsigned* words, size_t n, unsigned size)
{
    unsigned* mine = words + (size_t)blockIdx.x * (size / 4);
    for (unsigned i = threadIdx.x; i < size / 4; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned v = values[blockIdx.x * n + i];
        atomicAdd(&mine[v / 4], 1u << (v % 4 * 8));
    }
}

void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, size_t n, unsigned columns, unsigned rows, void*)
{
    hist<<<histograms, 1024>>>(values, (unsigned*)bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
