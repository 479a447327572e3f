// No atomics in the loop: each of 256 threads has a bin and compares its value with all pixels of the block.

#include <algorithm>

#include "labs/image_histogram/lab.h"

constexpr unsigned block = bin_count, vectors = block, piece = vectors * sizeof(uint4);  // bytes at a time

// 1 in each byte of `word` that is equal to `four`, which is 0 in the other ones.
__device__ unsigned equal_bytes(unsigned word, unsigned four) { return __vcmpeq4(word, four) & 0x01010101u; }

__global__ void __launch_bounds__(block) count_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ uint4 part[vectors];
    const unsigned four = threadIdx.x * 0x01010101u;
    unsigned count = 0;
    const std::size_t pieces = n / piece;
    const auto* all = reinterpret_cast<const uint4*>(pixels);
    for (std::size_t p = blockIdx.x; p < pieces; p += gridDim.x) {
        part[threadIdx.x] = all[p * vectors + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < vectors; k += 32) {
            unsigned bytes = 0;  // up to 4 * 32 in each
#pragma unroll 8
            for (unsigned j = 0; j < 32; ++j) {
                const uint4 v = part[k + j];
                bytes += equal_bytes(v.x, four) + equal_bytes(v.y, four);
                bytes += equal_bytes(v.z, four) + equal_bytes(v.w, four);
            }
            count += (bytes & 255) + (bytes >> 8 & 255) + (bytes >> 16 & 255) + (bytes >> 24);
        }
        __syncthreads();
    }
    if (count > 0) atomicAdd(&bins[threadIdx.x], count);
    // What is left after the whole pieces goes directly to the bins.
    for (std::size_t i = pieces * piece + blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block)
        atomicAdd(&bins[pixels[i]], 1u);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(unsigned)));
    if (n == 0) return;
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t blocks = std::clamp<std::size_t>(n / piece, 1, 8 * multiprocessors);
    count_kernel<<<static_cast<unsigned>(blocks), block>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
