#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, int* out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        int sum = a[i] * b[i];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x % 32 == 0)
            atomicAdd(out, sum);
    }
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n > 0) dot<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
