// Blocks of one warp with one vector per thread: very many tiny blocks, which limits the warps that run at once.

#include <algorithm>

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 32
#endif
#ifndef VECTORS  // of four floats, per thread
#define VECTORS 1
#endif

__device__ float4 add(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

__global__ void __launch_bounds__(BLOCK) vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    // The contract's pointers are aligned to 256 bytes, so vectors of 16 bytes are aligned, too.
    const auto* a4 = reinterpret_cast<const float4*>(a);
    const auto* b4 = reinterpret_cast<const float4*>(b);
    auto* out4 = reinterpret_cast<float4*>(out);
    const std::size_t vectors = n / 4;
    const std::size_t first = std::size_t{blockIdx.x} * BLOCK * VECTORS + threadIdx.x;

    if (first + (VECTORS - 1) * BLOCK < vectors) {
        float4 x[VECTORS], y[VECTORS];
#pragma unroll
        for (unsigned k = 0; k < VECTORS; ++k) {
            x[k] = a4[first + k * BLOCK];
            y[k] = b4[first + k * BLOCK];
        }
#pragma unroll
        for (unsigned k = 0; k < VECTORS; ++k) out4[first + k * BLOCK] = add(x[k], y[k]);
    } else {  // the last block
        for (std::size_t i = first; i < vectors; i += BLOCK) out4[i] = add(a4[i], b4[i]);
    }

    const std::size_t i = vectors * 4 + threadIdx.x;  // up to three elements are left
    if (blockIdx.x == 0 && i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;
    const std::size_t blocks = (n / 4 + BLOCK * VECTORS - 1) / (BLOCK * VECTORS);
    // At least one block: it also adds the elements after the last whole vector.
    vector_add_kernel<<<static_cast<unsigned>(std::max<std::size_t>(blocks, 1)), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
