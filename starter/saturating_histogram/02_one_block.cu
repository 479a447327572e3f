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
    // TODO: divide the width * height elements into BLOCK slices, rounded up, and count this thread's slice.
    // Element i is in row i / width, column i % width: divide once, at the beginning of the slice; then move from
    // element to element and from row to row.
}

__global__ void narrow_kernel(const unsigned* counts, std::uint8_t* bins) {
    // TODO: thread b computes bin b from count b: the count itself, or 255 if it is larger.
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
    // TODO: the counts are in scratch, which holds garbage. Clear them (cudaMemsetAsync), launch count_kernel with
    // one block of BLOCK threads, then narrow_kernel with a thread per bin. Operations on one stream run in
    // order.
    (void)input, (void)pitch, (void)scratch;
}
