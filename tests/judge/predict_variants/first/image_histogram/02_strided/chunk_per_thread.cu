// Counts in two shared sets of bins per block; each thread takes a contiguous chunk of the pixels.

#include <algorithm>

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void count_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ unsigned sets[2][bin_count];
    for (int i = threadIdx.x; i < 2 * bin_count; i += BLOCK) sets[i / bin_count][i % bin_count] = 0;
    __syncthreads();
    const std::size_t thread = std::size_t{blockIdx.x} * BLOCK + threadIdx.x, threads = std::size_t{gridDim.x} * BLOCK;
    const std::size_t chunk = (n + threads - 1) / threads, first = thread * chunk < n ? thread * chunk : n;
    const std::size_t end = first + chunk < n ? first + chunk : n;
    for (std::size_t i = first; i < end; ++i) atomicAdd(&sets[threadIdx.x % 2][pixels[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bin_count; bin += BLOCK) atomicAdd(&bins[bin], sets[0][bin] + sets[1][bin]);
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* /*scratch*/) {
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(unsigned)));
    if (n == 0) return;
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t blocks = std::min<std::size_t>((n + BLOCK - 1) / BLOCK, multiprocessors * 4);
    count_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
