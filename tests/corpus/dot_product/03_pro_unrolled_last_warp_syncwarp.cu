#include "labs/dot_product/lab.h"

#define DIM 128

// The last warp without block barriers. Each step reads, waits, writes, waits.
__device__ void warpReduce(volatile int *vsmem, unsigned int tid)
{
    int t = vsmem[tid];
    t += vsmem[tid + 32]; __syncwarp(); vsmem[tid] = t; __syncwarp();
    t += vsmem[tid + 16]; __syncwarp(); vsmem[tid] = t; __syncwarp();
    t += vsmem[tid +  8]; __syncwarp(); vsmem[tid] = t; __syncwarp();
    t += vsmem[tid +  4]; __syncwarp(); vsmem[tid] = t; __syncwarp();
    t += vsmem[tid +  2]; __syncwarp(); vsmem[tid] = t; __syncwarp();
    t += vsmem[tid +  1]; __syncwarp(); vsmem[tid] = t;
}

__global__ void reduceSmemUnroll(const int *g_a, const int *g_b, int *g_out, size_t n)
{
    __shared__ int smem[DIM];

    // set thread ID
    unsigned int tid = threadIdx.x;
    size_t idx = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;

    // unrolling 4
    int tmpSum = 0;
    for (int k = 0; k < 4; ++k)
    {
        size_t at = idx + k * DIM;
        if (at < n) tmpSum += g_a[at] * g_b[at];
    }
    smem[tid] = tmpSum;
    __syncthreads();

    // in-place reduction in shared memory
    if (DIM >= 1024 && tid < 512) smem[tid] += smem[tid + 512];
    __syncthreads();
    if (DIM >= 512 && tid < 256) smem[tid] += smem[tid + 256];
    __syncthreads();
    if (DIM >= 256 && tid < 128) smem[tid] += smem[tid + 128];
    __syncthreads();
    if (DIM >= 128 && tid < 64) smem[tid] += smem[tid + 64];
    __syncthreads();

    // unrolling warp
    if (tid < 32) warpReduce(smem, tid);

    // write result for this block to global mem
    if (tid == 0) atomicAdd(g_out, smem[0]);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    dim3 grid((unsigned)((n + 4 * DIM - 1) / (4 * DIM)));
    reduceSmemUnroll<<<grid, DIM>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
