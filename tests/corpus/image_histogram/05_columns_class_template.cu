#include <cstdint>
#include "labs/image_histogram/lab.h"

template <unsigned Bins, unsigned Lanes>
struct Columns {
    static_assert((Lanes & (Lanes - 1)) == 0, "power of two");
    unsigned cell[Bins][Lanes];

    template <typename... Values>
    __device__ void add(unsigned lane, Values... values) {
        (atomicAdd(&cell[values & (Bins - 1)][lane], 1u), ...);
    }
    __device__ unsigned total(unsigned bin) const {
        unsigned sum = 0;
        for (const unsigned& c : cell[bin]) sum += c;
        return sum;
    }
};

constexpr unsigned threads_for(unsigned bins) { return bins < 128 ? 128 : bins; }

template <typename Word>
__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ Columns<bin_count, 32> columns;
    for (unsigned k = threadIdx.x; k < bin_count * 32; k += blockDim.x) columns.cell[k / 32][k % 32] = 0;
    __syncthreads();

    const unsigned lane = threadIdx.x % 32;
    const std::size_t first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x, step = std::size_t{gridDim.x} * blockDim.x;
    const Word* words = reinterpret_cast<const Word*>(pixels);
    for (std::size_t i = first; i < n / sizeof(Word); i += step) {
        const Word w = words[i];
        if constexpr (sizeof(Word) == 4)
            columns.add(lane, w, w >> 8, w >> 16, w >> 24);
        else
            columns.add(lane, static_cast<unsigned>(w));
    }
    for (std::size_t i = n / sizeof(Word) * sizeof(Word) + first; i < n; i += step) columns.add(lane, unsigned{pixels[i]});
    __syncthreads();
    if (const unsigned b = threadIdx.x; b < bin_count) atomicAdd(bins + b, columns.total(b));
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof *bins));
    count<std::uint32_t><<<32, threads_for(bin_count)>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
