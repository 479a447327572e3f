#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, float* sums, size_t n)
{
    float sum = 0.f;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum = fmaf((float)a[i], (float)b[i], sum);
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sums, sum);
}

__global__ void convert(const float* sums, int* out)
{
    *out = __float2int_rn(*sums);
}

size_t dot_product_scratch_bytes(size_t) { return sizeof(float); }

void dot_product(const int* a, const int* b, int* out, size_t n, void* scratch)
{
    float* sums = static_cast<float*>(scratch);
    CUDA_CHECK(cudaMemset(sums, 0, sizeof(float)));
    dot<<<64, 256>>>(a, b, sums, n);
    convert<<<1, 1>>>(sums, out);
    CUDA_CHECK(cudaGetLastError());
}
