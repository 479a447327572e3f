// Wrong on purpose: only whole vectors of four are added.
#include "labs/vector_add/lab.h"

__global__ void add(const float4* a, const float4* b, float4* out, std::size_t vectors) {
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    std::size_t vectors = n / 4;
    if (vectors == 0) return;
    add<<<(vectors + 255) / 256, 256>>>((const float4*)a, (const float4*)b, (float4*)out, vectors);
    CUDA_CHECK(cudaGetLastError());
}
