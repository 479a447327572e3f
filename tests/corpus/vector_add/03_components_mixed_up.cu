#include "labs/vector_add/lab.h"

__global__ void add4(const float4* a, const float4* b, float4* c, size_t m)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= m) return;
    float4 u = a[i];
    float4 v = b[i];
    float4 w;
    w.x = u.x + v.x;
    w.y = u.y + v.y;
    w.z = u.z + v.w;
    w.w = u.w + v.z;
    c[i] = w;
}

__global__ void add1(const float* a, const float* b, float* c, size_t from, size_t n)
{
    size_t i = from + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, size_t n, void*)
{
    size_t m = n / 4;
    if (m > 0) add4<<<(unsigned)((m + 127) / 128), 128>>>((float4*)a, (float4*)b, (float4*)out, m);
    add1<<<1, 4>>>(a, b, out, 4 * m, n);
    CUDA_CHECK(cudaGetLastError());
}
