// One block: each thread counts a contiguous slice of the elements. Threads share the bins, so they add atomically,
// and atomics need bins of 32 bits: a second kernel narrows them to 8. It is slow, because a warp's threads read places
// far apart, and because there is only one block.

#include "labs/saturating_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 1024
#endif

// A full bin needs no atomic. The value that is read may be old, but bins only grow: at worst, one exceeds 255.
__device__ void count(unsigned* bins, std::uint32_t value) {
    if (bins[value] < bin_full) atomicAdd(&bins[value], 1u);
}

__global__ void count_kernel(const std::uint32_t* input, unsigned* counts, std::size_t width, std::size_t height,
                             std::size_t pitch) {
    //@ begin
    const std::size_t elements = width * height;
    const std::size_t slice = (elements + BLOCK - 1) / BLOCK;  // rounded up: the last slices may be short or empty
    const std::size_t first = threadIdx.x * slice, end = first + slice < elements ? first + slice : elements;
    std::size_t x = first % width, y = first / width;
    for (std::size_t i = first; i < end; ++i) {
        count(counts, input[y * pitch + x]);
        if (++x == width) {
            x = 0;
            ++y;
        }
    }
    //@ starter
    //@ // TODO: divide the width * height elements into BLOCK slices, rounded up, and count this thread's slice.
    //@ // Element i is in row i / width, column i % width: divide once, at the beginning of the slice; then move from
    //@ // element to element and from row to row.
    //@ end
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    //@ begin
    const unsigned b = threadIdx.x;
    bins[b] = static_cast<std::uint8_t>(counts[b] < bin_full ? counts[b] : bin_full);
    //@ starter
    //@ // TODO: thread b computes bin b from count b: the count itself, or 255 if it is larger.
    //@ end
}

std::size_t saturating_histogram_scratch_bytes(std::size_t /*width*/, std::size_t /*height*/) {
    return bin_count * sizeof(unsigned);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    if (width == 0 || height == 0) {
        CUDA_CHECK(cudaMemset(bins, 0, bin_count));
        return;
    }
    //@ begin
    auto* counts = static_cast<unsigned*>(scratch);
    CUDA_CHECK(cudaMemsetAsync(counts, 0, bin_count * sizeof(unsigned)));  // in every call: scratch holds garbage
    count_kernel<<<1, BLOCK>>>(input, counts, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
    narrow_kernel<<<1, bin_count>>>(counts, bins);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: the counts are in scratch, which holds garbage. Clear them (cudaMemsetAsync), launch count_kernel with
    //@ // one block of BLOCK threads, then narrow_kernel with a thread per bin. Operations on one stream run in
    //@ // order.
    //@ (void)input, (void)pitch, (void)scratch;
    //@ end
}
