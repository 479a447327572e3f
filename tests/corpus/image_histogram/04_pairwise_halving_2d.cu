#include "labs/image_histogram/lab.h"

#define GROUPS 50   /* blocks of the counting kernel */

__global__ void count(const unsigned char *pix, unsigned *part, size_t n)
{
    __shared__ unsigned h[256];
    h[threadIdx.x] = 0;                     /* 256 threads, 256 bins */
    __syncthreads();
    size_t i;
    for (i = blockIdx.x * 256 + threadIdx.x; i < n; i += GROUPS * 256)
        atomicAdd(&h[pix[i]], 1);
    __syncthreads();
    part[blockIdx.x * 256 + threadIdx.x] = h[threadIdx.x];
}

/* grid: x is the part of the bins, y the partial histogram */
__global__ void fold(unsigned *part, int upper)
{
    int bin = blockIdx.x * blockDim.x + threadIdx.x;
    part[blockIdx.y * 256 + bin] += part[(blockIdx.y + upper) * 256 + bin];
}

void image_histogram(const unsigned char *pix, unsigned *bins, size_t n, void *scratch)
{
    unsigned *part;
    int left = GROUPS;
    CUDA_CHECK(cudaMalloc((void **)&part, GROUPS * 256 * sizeof(unsigned)));
    count<<<GROUPS, 256>>>(pix, part, n);
    while (left > 1) {
        int upper = (left + 1) / 2;         /* these stay */
        dim3 grid(4, left - upper), block(64);
        fold<<<grid, block>>>(part, upper);
        left = upper;
    }
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(bins, part, 256 * sizeof(unsigned), cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaFree(part));
}
