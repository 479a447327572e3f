// Reads float4 even where rows do not begin at multiples of 16 bytes.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROWS  // of the output, per thread
#define ROWS 32
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
        const float4 a = *reinterpret_cast<const float4*>(row), b = *reinterpret_cast<const float4*>(row + 4);
        pixels[0] = a.x, pixels[1] = a.y, pixels[2] = a.z, pixels[3] = a.w;
        pixels[4] = b.x, pixels[5] = b.y, pixels[6] = b.z, pixels[7] = b.w;
    } else {
#pragma unroll
        for (int j = 0; j < span; ++j) pixels[j] = j < left ? row[j] : 0;
    }
}

template <bool aligned>
__device__ void store_row(float* row, int left, const float (&sums)[columns]) {
    if (aligned) {
        *reinterpret_cast<float4*>(row) = make_float4(sums[0], sums[1], sums[2], sums[3]);
    } else {
#pragma unroll
        for (int j = 0; j < columns; ++j)
            if (j < left) row[j] = sums[j];
    }
}

template <bool aligned>  // every row of image and out begins at a multiple of 16 bytes
__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = (blockIdx.x * BLOCK + threadIdx.x) * columns, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int bottom = min(top + ROWS, height);
    // Row y + r of image is in window[(y + r - top) % 5]: rows stay where they are, and the newest replaces the oldest.
    // In a loop unrolled by five, the compiler knows all indices, and the window is 40 registers.
    float window[filter_size][span];
#pragma unroll
    for (int r = 0; r < filter_size - 1; ++r) load_row<aligned>(image + (top + r) * pitch + x, pitch - x, window[r]);
    for (int y = top; y < bottom; y += filter_size) {
#pragma unroll
        for (int phase = 0; phase < filter_size; ++phase) {
            if (y + phase >= bottom) break;
            constexpr int newest = filter_size - 1;
            load_row<aligned>(image + (y + phase + newest) * pitch + x, pitch - x,
                              window[(phase + newest) % filter_size]);
            float sums[columns] = {};
#pragma unroll
            for (int r = 0; r < filter_size; ++r)
#pragma unroll
                for (int c = 0; c < filter_size; ++c)
#pragma unroll
                    for (int j = 0; j < columns; ++j)
                        sums[j] += weights[r * filter_size + c] * window[(phase + r) % filter_size][j + c];
            store_row<aligned>(out + (y + phase) * width + x, width - x, sums);
        }
    }
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 blocks((width + BLOCK * columns - 1) / (BLOCK * columns), (height + ROWS - 1) / ROWS);
    // Rows of image are width + 4 long: if width is a multiple of four, so is every row's first index.
    smoothing_filter_kernel<true><<<blocks, BLOCK>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
