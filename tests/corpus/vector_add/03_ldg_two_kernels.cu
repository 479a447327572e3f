#include "labs/vector_add/lab.h"

static __device__ __forceinline__ float4 operator+(const float4& u, const float4& v)
{
    float4 w;
    w.x = u.x + v.x;
    w.y = u.y + v.y;
    w.z = u.z + v.z;
    w.w = u.w + v.w;
    return w;
}

__global__ void __launch_bounds__(256, 4) body(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ out, size_t quads)
{
    const size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (t < quads)
        __stcs(&out[t], __ldg(&a[t]) + __ldg(&b[t]));
}

__global__ void tail(const float* a, const float* b, float* out)
{
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

void vector_add(const float* a, const float* b, float* out, size_t n, void*)
{
    const size_t quads = n >> 2;
    const unsigned rest = n & 3;
    if (quads)
        body<<<(unsigned)((quads + 255) / 256), 256>>>((const float4*)a, (const float4*)b, (float4*)out, quads);
    if (rest)
        tail<<<1, rest>>>(a + 4 * quads, b + 4 * quads, out + 4 * quads);
    CUDA_CHECK(cudaGetLastError());
}
