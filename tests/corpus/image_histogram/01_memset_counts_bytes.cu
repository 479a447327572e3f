#include "labs/image_histogram/lab.h"

__global__ void histo(const unsigned char* p, unsigned* bins, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[p[i]], 1u);
}

void image_histogram(const unsigned char* p, unsigned* bins, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(bins, 0, 256));
    if (n == 0) return;
    histo<<<(n + 255) / 256, 256>>>(p, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
