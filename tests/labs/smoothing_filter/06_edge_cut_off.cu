// The code assumes that rows of image are as short as rows of out, and so cuts the right edge off.

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
constexpr int span = columns + filter_size - 1;  // of image, for these
static_assert(columns == 4 && span == 8, "one float4 of the output, two of the image");

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

// span pixels of a row; `left` pixels remain before the row's end.
template <bool aligned>
__device__ void load_row(const float* row, int left, float (&pixels)[span]) {
    if (aligned) {
        const float4 a = reinterpret_cast<const float4*>(row)[0], b = reinterpret_cast<const float4*>(row)[1];
        pixels[0] = a.x, pixels[1] = a.y, pixels[2] = a.z, pixels[3] = a.w;
        pixels[4] = b.x, pixels[5] = b.y, pixels[6] = b.z, pixels[7] = b.w;
    } else {
#pragma unroll
        for (int i = 0; i < span; ++i) pixels[i] = i < left ? row[i] : 0.0f;
    }
}

template <bool aligned>
__device__ void store_row(float* row, int left, const float (&sums)[columns]) {
    if (aligned) {
        *reinterpret_cast<float4*>(row) = make_float4(sums[0], sums[1], sums[2], sums[3]);
    } else {
#pragma unroll
        for (int i = 0; i < columns; ++i)
            if (i < left) row[i] = sums[i];
    }
}

template <bool aligned>  // every row of image and out begins at a multiple of 16 bytes
__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = (blockIdx.x * BLOCK + threadIdx.x) * columns, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int rows = min(ROWS, height - top);  // of out
    const float* const first = image + top * pitch + x;
    float sums[5][columns] = {};
    float pixels[AHEAD + 1][span];
#pragma unroll
    for (int r = 0; r < AHEAD; ++r)
        if (r < rows + 4) load_row<aligned>(first + r * pitch, width - x, pixels[r]);
#pragma unroll
    for (int r = 0; r < ROWS + 4; ++r) {
        if (r >= rows + 4) break;
        if (r + AHEAD < rows + 4)
            load_row<aligned>(first + (r + AHEAD) * pitch, width - x, pixels[(r + AHEAD) % (AHEAD + 1)]);
        const float(&p)[span] = pixels[r % (AHEAD + 1)];
#pragma unroll
        for (int i = 0; i < columns; ++i) sums[r % 5][i] = 0;
#pragma unroll
        for (int k = 0; k < 5; ++k) {
            if (r - k < 0) continue;
#pragma unroll
            for (int c = 0; c < 5; ++c)
#pragma unroll
                for (int i = 0; i < columns; ++i) sums[(r - k) % 5][i] += weights[k * 5 + c] * p[i + c];
        }
        if (r >= 4) store_row<aligned>(out + (top + r - 4) * width + x, width - x, sums[(r - 4) % 5]);
    }
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 blocks((width + BLOCK * columns - 1) / (BLOCK * columns), (height + ROWS - 1) / ROWS);
    // Rows of image are width + 4 long: if width is a multiple of four, so is every row's first index.
    if (width % columns == 0)
        smoothing_filter_kernel<true><<<blocks, BLOCK>>>(image, out, width, height);
    else
        smoothing_filter_kernel<false><<<blocks, BLOCK>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
