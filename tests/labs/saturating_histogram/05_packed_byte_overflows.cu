// Four bins in a word: between the check of a byte and its atomicAdd, other threads fill the byte, and it overflows.
#include "labs/saturating_histogram/lab.h"

__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    __shared__ unsigned words[bin_count / 4];
    for (int i = threadIdx.x; i < bin_count / 4; i += blockDim.x) words[i] = 0;
    __syncthreads();
    for (std::size_t row = blockIdx.x; row < height; row += gridDim.x)
        for (std::size_t column = threadIdx.x; column < width; column += blockDim.x) {
            const unsigned value = input[row * pitch + column], shift = value % 4 * 8;
            if ((words[value / 4] >> shift & 255) < 255) atomicAdd(&words[value / 4], 1u << shift);
        }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bin_count; bin += blockDim.x)
        atomicAdd(&counts[bin], words[bin / 4] >> bin % 4 * 8 & 255);
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    bins[threadIdx.x] = static_cast<std::uint8_t>(min(counts[threadIdx.x], 255u));
}

std::size_t saturating_histogram_scratch_bytes(std::size_t, std::size_t) { return bin_count * sizeof(unsigned); }

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    unsigned* counts = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemset(counts, 0, bin_count * sizeof(unsigned)));
    if (width && height) count_kernel<<<16, 512>>>(input, counts, width, height, pitch);
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
}
