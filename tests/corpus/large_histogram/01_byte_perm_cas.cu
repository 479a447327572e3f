#include "labs/large_histogram/lab.h"

__device__ unsigned char atomicIncCapped(unsigned char *address, unsigned char cap)
{
    unsigned int *base = (unsigned int *)((size_t)address & ~(size_t)3);
    const unsigned int selectors[] = {0x3214, 0x3240, 0x3410, 0x4210};
    unsigned int sel = selectors[(size_t)address & 3];
    unsigned int old, assumed, sum, new_;

    old = atomicAdd(base, 0);
    do {
        assumed = old;
        unsigned int mine = __byte_perm(old, 0, ((size_t)address & 3) | 0x4440);
        if (mine >= cap) return (unsigned char)mine;
        sum = mine + 1;
        new_ = __byte_perm(old, sum, sel);
        old = atomicCAS(base, assumed, new_);
    } while (assumed != old);
    return (unsigned char)sum;
}

__global__ void histo(const unsigned *values, unsigned char *bins, size_t n, unsigned size)
{
    const unsigned *mine = values + blockIdx.x * n;
    unsigned char *b = bins + (size_t)blockIdx.x * size;
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) b[i] = 0;
    __syncthreads();
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) atomicIncCapped(b + mine[i], 200);
}

void large_histogram(const unsigned *values, unsigned char *bins, unsigned histograms, size_t n, unsigned columns,
                     unsigned rows, void *)
{
    histo<<<histograms, 512>>>(values, bins, n, columns * rows);
    CUDA_CHECK(cudaGetLastError());
}
