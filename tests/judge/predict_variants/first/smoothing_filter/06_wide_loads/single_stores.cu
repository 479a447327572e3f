// Loads take 16 bytes, but the four results of a row are stored one by one, 16 bytes apart.

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
#pragma unroll
    for (int j = 0; j < columns; ++j)
        if (aligned || j < left) row[j] = sums[j];
}

template <bool aligned>  // every row of image and out begins at a multiple of 16 bytes
__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = (blockIdx.x * BLOCK + threadIdx.x) * columns, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int rows = min(ROWS, height - top);  // of out
    const float* const first = image + top * pitch + x;
    float sums[filter_size][columns];  // those of row y of out are sums[y % filter_size]
#pragma unroll
    for (int r = 0; r < ROWS + filter_size - 1; ++r) {
        if (r >= rows + filter_size - 1) break;
        float pixels[span];
        load_row<aligned>(first + r * pitch, pitch - x, pixels);
#pragma unroll
        for (int k = 0; k < filter_size; ++k) {  // this is the k-th of the five rows that make row r - k of out
            const int y = r - k;
            if (y < 0 || y >= ROWS) continue;
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                float sum = k == 0 ? 0 : sums[y % filter_size][j];
#pragma unroll
                for (int c = 0; c < filter_size; ++c) sum += weights[k * filter_size + c] * pixels[j + c];
                sums[y % filter_size][j] = sum;
            }
        }
        const int done = r - (filter_size - 1);
        if (done >= 0) store_row<aligned>(out + (top + done) * width + x, width - x, sums[done % filter_size]);
    }
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
