#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, int* out, size_t n)
{
    int sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int lane_mask = 16; lane_mask > 1; lane_mask >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, lane_mask);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot<<<120, 128>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
