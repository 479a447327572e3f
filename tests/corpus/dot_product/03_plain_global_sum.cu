#include "labs/dot_product/lab.h"

__device__ int grand_total;

__global__ void accumulate(const int* a, const int* b, size_t n)
{
    __shared__ int s[128];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    s[threadIdx.x] = (i < n) ? a[i] * b[i] : 0;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1)
    {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        grand_total = grand_total + s[0];
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    int zero = 0;
    CUDA_CHECK(cudaMemcpyToSymbol(grand_total, &zero, sizeof(int)));
    if (n > 0) accumulate<<<(n + 127) / 128, 128>>>(a, b, n);
    CUDA_CHECK(cudaGetLastError());
    void* from;
    CUDA_CHECK(cudaGetSymbolAddress(&from, grand_total));
    CUDA_CHECK(cudaMemcpy(out, from, sizeof(int), cudaMemcpyDeviceToDevice));
}
