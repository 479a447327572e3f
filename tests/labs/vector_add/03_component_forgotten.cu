// Wrong on purpose: the last of the four components is not stored.
#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    std::size_t i = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i);
        out[i] = x.x + y.x;
        out[i + 1] = x.y + y.y;
        out[i + 2] = x.z + y.z;
    } else {
        for (; i < n; ++i) out[i] = a[i] + b[i];
    }
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    add<<<(n / 4 + 256) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
