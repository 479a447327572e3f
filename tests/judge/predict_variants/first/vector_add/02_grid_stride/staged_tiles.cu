// Blocks of only 64 threads copy tiles of 4096 elements to 32 KB of shared memory before they add them.

#include <algorithm>

#include "labs/vector_add/lab.h"

constexpr unsigned block = 64, tile = 4096;
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 16
#endif

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    __shared__ float left[tile], right[tile];
    for (std::size_t first = std::size_t{blockIdx.x} * tile; first < n; first += std::size_t{gridDim.x} * tile) {
        const std::size_t count = n - first < tile ? n - first : tile;
        for (std::size_t k = threadIdx.x; k < count; k += block) {
            left[k] = a[first + k];
            right[k] = b[first + k];
        }
        __syncthreads();
        for (std::size_t k = threadIdx.x; k < count; k += block) out[first + k] = left[k] + right[k];
        __syncthreads();
    }
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;
    // No more blocks than there is work for: with a small vector, further threads would have nothing to do.
    const std::size_t needed = (n + tile - 1) / tile;
    const std::size_t blocks = std::min<std::size_t>(needed, count_multiprocessors() * BLOCKS_PER_SM);
    vector_add_kernel<<<static_cast<unsigned>(blocks), block>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
