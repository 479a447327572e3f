#include "labs/dot_product/lab.h"

__device__ int total = 0;
__device__ unsigned done = 0;

__global__ void dot(const int* a, const int* b, int* out, size_t n)
{
    int sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) {
        atomicAdd(&total, sum);
        __threadfence();
        if (atomicAdd(&done, 1u) == gridDim.x - 1)
            *out = atomicAdd(&total, 0);
    }
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    dot<<<256, 32>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
