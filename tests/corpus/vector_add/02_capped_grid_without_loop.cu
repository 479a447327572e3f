#include <algorithm>
#include "labs/vector_add/lab.h"

__global__ void add_kernel(const float* a, const float* b, float* out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)   // was: for (; i < n; i += stride)
        out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, size_t n, void*)
{
    if (n == 0) return;
    size_t blocks = std::min<size_t>((n + 255) / 256, 1024);
    add_kernel<<<(unsigned)blocks, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
