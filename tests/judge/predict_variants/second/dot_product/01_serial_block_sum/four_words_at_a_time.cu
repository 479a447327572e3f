// Thread 0 reads four products of shared memory at once and has four sums, which do not wait for each other.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ __align__(16) int products[BLOCK];
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    // Threads past the end add nothing, but must not return: the barrier waits for the whole block.
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();  // until every product is there

    if (threadIdx.x == 0) {
        const auto* fours = reinterpret_cast<const int4*>(products);
        int w = 0, x = 0, y = 0, z = 0;
#pragma unroll 8
        for (unsigned t = 0; t < BLOCK / 4; ++t) {
            const int4 four = fours[t];
            w += four.w;
            x += four.x;
            y += four.y;
            z += four.z;
        }
        atomicAdd(out, w + x + y + z);  // blocks run in any order and at the same time: out += sum would lose sums
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));  // in every call: out holds garbage, or the previous call's answer
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
