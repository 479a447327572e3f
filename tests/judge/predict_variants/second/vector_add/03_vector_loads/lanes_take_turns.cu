// Even lanes load from a and odd lanes from b, two vectors each, and they exchange halves by shuffles.

#include <algorithm>

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__device__ float4 add(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }

__global__ void __launch_bounds__(BLOCK) vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    // The contract's pointers are aligned to 256 bytes, so vectors of 16 bytes are aligned, too.
    const auto* a4 = reinterpret_cast<const float4*>(a);
    const auto* b4 = reinterpret_cast<const float4*>(b);
    auto* out4 = reinterpret_cast<float4*>(out);
    const std::size_t vectors = n / 4;
    const unsigned lane = threadIdx.x % 32, odd = lane % 2;
    // A pair of lanes adds the vectors pair * 2 and pair * 2 + 1.
    const std::size_t pair = (std::size_t{blockIdx.x} * BLOCK + threadIdx.x) / 2;
    const float4* from = odd ? b4 : a4;
    const float4 zero = make_float4(0, 0, 0, 0);
    const float4 x = pair * 2 < vectors ? from[pair * 2] : zero;
    const float4 y = pair * 2 + 1 < vectors ? from[pair * 2 + 1] : zero;
    // An even lane keeps the first vector of a and needs that of b; an odd one keeps the second of b.
    const float4 mine = odd ? y : x, other = odd ? x : y;
    float4 got;
    got.x = __shfl_xor_sync(0xffffffffu, other.x, 1);
    got.y = __shfl_xor_sync(0xffffffffu, other.y, 1);
    got.z = __shfl_xor_sync(0xffffffffu, other.z, 1);
    got.w = __shfl_xor_sync(0xffffffffu, other.w, 1);
    if (pair * 2 + odd < vectors) out4[pair * 2 + odd] = add(mine, got);

    const std::size_t i = vectors * 4 + threadIdx.x;  // up to three elements are left
    if (blockIdx.x == 0 && i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;
    const std::size_t blocks = (n / 4 + BLOCK - 1) / (BLOCK);
    // At least one block: it also adds the elements after the last whole vector.
    vector_add_kernel<<<static_cast<unsigned>(std::max<std::size_t>(blocks, 1)), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
