// Each thread has 256 counters of a byte in shared memory, without atomics, and the block empties them in time.

#include <algorithm>

#include "labs/image_histogram/lab.h"

constexpr unsigned block = 128, vectors_per_round = 15;  // 240 pixels: no byte overflows

__device__ unsigned totals[bin_count], finished_blocks;  // 0 between calls

// The counter of a value and thread is in word value / 4 of the thread's column, so the bank depends on the lane only.
__device__ void count_word(unsigned char* counters, unsigned word) {
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 8) {
        const unsigned value = word >> shift & 255;
        ++counters[(value / 4 * block + threadIdx.x) * 4 + value % 4];
    }
}

// Adds all threads' counters of bins 2t and 2t + 1 to this thread's sums, and sets them to 0.
__device__ void empty(unsigned* words, unsigned (&sums)[2]) {
    const unsigned row = threadIdx.x / 2, shift = threadIdx.x % 2 * 16;
    for (unsigned k = 0; k < block; ++k) {
        const unsigned word = words[row * block + (k + row) % block] >> shift;
        sums[0] += word & 255;
        sums[1] += word >> 8 & 255;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bin_count / 4 * block; i += block) words[i] = 0;
    __syncthreads();
}

__global__ void __launch_bounds__(block) count_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned words[bin_count / 4 * block];
    auto* counters = reinterpret_cast<unsigned char*>(words);
    for (unsigned i = threadIdx.x; i < bin_count / 4 * block; i += block) words[i] = 0;
    __syncthreads();
    unsigned sums[2] = {};
    const auto* all = reinterpret_cast<const uint4*>(pixels);
    const std::size_t vectors = n / sizeof(uint4), stride = std::size_t{gridDim.x} * block;
    for (std::size_t round = std::size_t{blockIdx.x} * block; round < vectors; round += vectors_per_round * stride) {
#pragma unroll 3
        for (unsigned k = 0; k < vectors_per_round; ++k) {
            const std::size_t i = round + threadIdx.x + k * stride;
            if (i >= vectors) break;
            const uint4 vector = all[i];
            count_word(counters, vector.x);
            count_word(counters, vector.y);
            count_word(counters, vector.z);
            count_word(counters, vector.w);
        }
        __syncthreads();
        empty(words, sums);
    }
    atomicAdd(&totals[2 * threadIdx.x], sums[0]);
    atomicAdd(&totals[2 * threadIdx.x + 1], sums[1]);
    const std::size_t rest = vectors * sizeof(uint4) + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) atomicAdd(&totals[pixels[rest]], 1u);

    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned bin = threadIdx.x; bin < bin_count; bin += block) bins[bin] = atomicExch(&totals[bin], 0u);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* /*scratch*/) {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t blocks = std::clamp<std::size_t>(n / (block * 240), 1, 6 * multiprocessors);
    count_kernel<<<static_cast<unsigned>(blocks), block>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
