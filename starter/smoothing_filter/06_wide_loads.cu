// Like stage 05, but a thread has four neighbouring columns: it reads and writes 16 bytes at a time, and four results
// need 8 pixels of a row, not 20. If rows of image and out do not all begin at multiples of 16 bytes, a second version
// of the kernel moves single floats.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROWS  // of the output, per thread
#define ROWS 8
#endif
constexpr int columns = 4;                       // of the output, per thread
constexpr int span = columns + filter_size - 1;  // of image, per thread
static_assert(columns == 4 && span == 8, "one float4 of the output, two of the image");

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

// span pixels of a row; `left` pixels remain before the row's end.
template <bool aligned>
__device__ void load_row(const float* row, int left, float (&pixels)[span]) {
    // TODO: aligned: two float4. Otherwise one by one, and only those before the row's end; the others are 0.
    (void)row, (void)left, (void)pixels;
}

template <bool aligned>
__device__ void store_row(float* row, int left, const float (&sums)[columns]) {
    // TODO: likewise, one float4 or up to four floats.
    (void)row, (void)left, (void)sums;
}

template <bool aligned>  // every row of image and out begins at a multiple of 16 bytes
__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = (blockIdx.x * BLOCK + threadIdx.x) * columns, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int rows = min(ROWS, height - top);  // of out
    const float* const first = image + top * pitch + x;
    // TODO: as in stage 05, with load_row, store_row and the sums of four columns: column j needs the pixels from
    // pixels[j] on.
    (void)rows, (void)first, (void)pitch, (void)out, (void)weights;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 blocks((width + BLOCK * columns - 1) / (BLOCK * columns), (height + ROWS - 1) / ROWS);
    // TODO: launch smoothing_filter_kernel<true> if every row of image and of out begins at a multiple of 16 bytes,
    // and smoothing_filter_kernel<false> if not. How does this depend on width?
    (void)blocks, (void)image, (void)out;
    CUDA_CHECK(cudaGetLastError());
}
