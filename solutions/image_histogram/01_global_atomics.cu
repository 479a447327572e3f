// One thread, one pixel: it adds 1 to the pixel's bin in global memory. The addition must be atomic, or threads that
// count at the same time lose counts. This is simple and right, but all threads compete for 256 words.

#include "labs/image_histogram/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void count_kernel(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    //@ begin
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&bins[pixels[i]], 1u);
    //@ starter
    //@ // TODO: compute the index of this thread's pixel. The last block has threads past the end. The pixel's value is
    //@ // the number of its bin. Add 1 to the bin: atomicAdd(&bins[…], 1u).
    //@ end
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* /*scratch*/) {
    //@ begin
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(unsigned)));
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    count_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: set all bins to 0 (cudaMemset counts bytes), then launch count_kernel with a thread for every pixel.
    //@ // If there are no pixels, launch nothing.
    //@ end
}
