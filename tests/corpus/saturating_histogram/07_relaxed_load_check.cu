#include <cuda/atomic>
#include "labs/saturating_histogram/lab.h"

using Counter = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
using GlobalCounter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__global__ void count(const std::uint32_t* in, unsigned* sums, std::size_t w, std::size_t h, std::size_t pitch)
{
    __shared__ unsigned own[bin_count];
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (std::size_t y = blockIdx.x; y < h; y += gridDim.x)
        for (std::size_t x = threadIdx.x; x < w; x += blockDim.x) {
            Counter c(own[in[y * pitch + x]]);
            // a bin only grows: what is full stays full
            if (c.load(cuda::memory_order_relaxed) < bin_full) c.fetch_add(1u, cuda::memory_order_relaxed);
        }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bin_count; b += blockDim.x) {
        GlobalCounter sum(sums[b]);
        if (own[b] > 0 && sum.load(cuda::memory_order_relaxed) < bin_full) sum.fetch_add(own[b], cuda::memory_order_relaxed);
    }
}

__global__ void narrow(const unsigned* sums, std::uint8_t* bins) { bins[threadIdx.x] = min(sums[threadIdx.x], bin_full); }

std::size_t saturating_histogram_scratch_bytes(std::size_t, std::size_t) { return bin_count * sizeof(unsigned); }

void saturating_histogram(const std::uint32_t* in, std::uint8_t* bins, std::size_t w, std::size_t h, std::size_t pitch, void* scratch)
{
    auto* sums = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemset(sums, 0, bin_count * sizeof(unsigned)));
    count<<<64, 256>>>(in, sums, w, h, pitch);
    narrow<<<1, bin_count>>>(sums, bins);
    CUDA_CHECK(cudaGetLastError());
}
