#include "labs/dot_product/lab.h"

#define BLOCKS 240
#define THREADS 256

__global__ void partialDot(const int *a, const int *b, int *partial, size_t n)
{
    __shared__ int smem[THREADS];
    unsigned int tid = threadIdx.x;

    int sum = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + tid; i < n; i += (size_t)BLOCKS * THREADS) sum += a[i] * b[i];
    smem[tid] = sum;
    __syncthreads();

    for (int stride = THREADS / 2; stride > 0; stride >>= 1)
    {
        if (tid < stride)
        {
            smem[tid] += smem[tid + stride];
        }
        __syncthreads();
    }

    if (tid == 0) partial[blockIdx.x] = smem[0];
}

size_t dot_product_scratch_bytes(size_t n)
{
    return BLOCKS * sizeof(int);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch)
{
    int *d_partial = (int *)scratch, *h_partial;
    cudaEvent_t copied;
    CUDA_CHECK(cudaMallocHost((void **)&h_partial, BLOCKS * sizeof(int)));
    CUDA_CHECK(cudaEventCreate(&copied));

    partialDot<<<BLOCKS, THREADS>>>(a, b, d_partial, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(h_partial, d_partial, BLOCKS * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CUDA_CHECK(cudaEventRecord(copied, 0));
    CUDA_CHECK(cudaEventSynchronize(copied));

    unsigned int sum = 0;
    for (int i = 0; i < BLOCKS; i++) sum += h_partial[i];
    CUDA_CHECK(cudaMemcpy(out, &sum, sizeof(int), cudaMemcpyHostToDevice));

    CUDA_CHECK(cudaEventDestroy(copied));
    CUDA_CHECK(cudaFreeHost(h_partial));
}
