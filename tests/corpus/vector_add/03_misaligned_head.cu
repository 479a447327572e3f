#include "labs/vector_add/lab.h"

// The rest is done first, the vectors after it.
__global__ void add4(const float* a, const float* b, float* out, size_t n)
{
    const size_t head = n % 4;
    const size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (t < head) out[t] = a[t] + b[t];

    if (t < n / 4) {
        float4 x = reinterpret_cast<const float4*>(a + head)[t];
        float4 y = reinterpret_cast<const float4*>(b + head)[t];
        x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w;
        reinterpret_cast<float4*>(out + head)[t] = x;
    }
}

void vector_add(const float* a, const float* b, float* out, size_t n, void*)
{
    if (n == 0) return;
    add4<<<(unsigned)(n / 4 / 256 + 1), 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
