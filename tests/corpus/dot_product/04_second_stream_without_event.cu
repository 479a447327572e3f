#include "labs/dot_product/lab.h"

#define BLOCKS 200
#define THREADS 128

__global__ void partialDot(const int *a, const int *b, int *partial, size_t n)
{
    __shared__ int smem[THREADS];
    int sum = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (size_t)BLOCKS * THREADS) sum += a[i] * b[i];
    smem[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride >>= 1)
    {
        if (threadIdx.x < stride) smem[threadIdx.x] += smem[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = smem[0];
}

__global__ void finalSum(const int *partial, int *out)
{
    int sum = 0;
    for (int i = 0; i < BLOCKS; i++) sum += partial[i];
    *out = sum;
}

size_t dot_product_scratch_bytes(size_t n) { return BLOCKS * sizeof(int); }

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch)
{
    cudaStream_t second;
    CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    partialDot<<<BLOCKS, THREADS>>>(a, b, (int *)scratch, n);
    CUDA_CHECK(cudaGetLastError());
    finalSum<<<1, 1, 0, second>>>((int *)scratch, out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaStreamDestroy(second));
}
