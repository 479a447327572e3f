// Every warp adds its sum to out with an atomic after a memset; no block sum, no last block.

#include <algorithm>

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 4
#endif
#ifndef VECTORS  // of four ints, in flight per thread and operand
#define VECTORS 4
#endif
constexpr unsigned warp_threads = 32;

__device__ int dot(int4 x, int4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }

// This thread's share of the products.
__device__ int sum_products(const int* a, const int* b, std::size_t n) {
    const std::size_t vectors = n / 4;
    int sum = 0;
    const auto* a4 = reinterpret_cast<const int4*>(a);
    const auto* b4 = reinterpret_cast<const int4*>(b);
    constexpr unsigned tile = BLOCK * VECTORS;
    const std::size_t tiles = vectors / tile;
    // Every gridDim.x-th whole tile: there are no bounds to check between the loads, so all of them are issued at once.
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        int4 x[VECTORS], y[VECTORS];
#pragma unroll
        for (unsigned k = 0; k < VECTORS; ++k) {
            x[k] = a4[first + k * BLOCK];
            y[k] = b4[first + k * BLOCK];
        }
#pragma unroll
        for (unsigned k = 0; k < VECTORS; ++k) sum += dot(x[k], y[k]);
    }
    // The vectors after the last whole tile, one by one.
    for (std::size_t i = tiles * tile + blockIdx.x * BLOCK + threadIdx.x; i < vectors; i += gridDim.x * BLOCK)
        sum += dot(a4[i], b4[i]);
    const std::size_t i = vectors * 4 + threadIdx.x;  // up to three products are left
    if (blockIdx.x == 0 && i < n) sum += a[i] * b[i];
    return sum;
}

// Lane 0 gets the sum of its warp's values.
__device__ int warp_sum(int value) {
    constexpr unsigned all_lanes = 0xffffffffu;
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(all_lanes, value, distance);
    return value;
}

__global__ void __launch_bounds__(BLOCK) dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const int sum = warp_sum(sum_products(a, b, n));
    if (threadIdx.x % warp_threads == 0) atomicAdd(out, sum);
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(int)));
    const std::size_t tiles = (n / 4 + BLOCK * VECTORS - 1) / (BLOCK * VECTORS);
    const std::size_t blocks = std::min<std::size_t>(tiles, count_multiprocessors() * BLOCKS_PER_SM);
    // At least one block: it adds the products after the last whole vector, and writes the 0 of an empty sum.
    dot_product_kernel<<<static_cast<unsigned>(std::max<std::size_t>(blocks, 1)), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
