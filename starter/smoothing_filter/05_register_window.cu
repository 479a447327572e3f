// There is no tile: a thread walks down its columns, and adds every row that it reads to the sums of the five rows of
// out to which it belongs. So a thread reads a row once, and keeps five rows of sums in registers. It has four
// neighbouring columns, so it reads and writes 16 bytes at a time, and needs 8 pixels of a row for 4 results. Other
// threads read the halo, too; a cache may serve them. Rows are loaded some steps ahead, because memory is slow.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROWS  // of the output, per thread
#define ROWS 8
#endif
#ifndef AHEAD  // rows of image that are being loaded while one is used
#define AHEAD 3
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
    // TODO: aligned: two float4. Otherwise one by one, and only those before the row's end.
}

template <bool aligned>
__device__ void store_row(float* row, int left, const float (&sums)[columns]) {
    // TODO: likewise, one float4 or up to four floats.
}

template <bool aligned>  // every row of image and out begins at a multiple of 16 bytes
__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = (blockIdx.x * BLOCK + threadIdx.x) * columns, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int rows = min(ROWS, height - top);  // of out
    const float* const first = image + top * pitch + x;
    // TODO: row r of the pixels (r from 0 to rows + 3) belongs to five rows of out. For row r - k of out, it needs
    // row k of the filter; k = 0 begins its sums, and after k = 4 they are complete: store them. Use arrays with
    // indices that are known at compile time (unrolled loops), so that they are registers, and load rows of
    // pixels some steps before they are used.
    (void)rows, (void)first, (void)pitch, (void)out;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 blocks((width + BLOCK * columns - 1) / (BLOCK * columns), (height + ROWS - 1) / ROWS);
    // Row 0 is aligned. Rows of image are width + 4 floats apart, rows of out width: both multiples of 4, or neither.
    if (width % columns == 0)
        smoothing_filter_kernel<true><<<blocks, BLOCK>>>(image, out, width, height);
    else
        smoothing_filter_kernel<false><<<blocks, BLOCK>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
