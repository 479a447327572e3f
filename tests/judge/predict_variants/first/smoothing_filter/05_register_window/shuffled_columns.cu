// Each lane loads one pixel of a row and gets the other four by shuffles; a warp makes 28 columns.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROWS  // of the output, per thread
#define ROWS 8
#endif
constexpr int warp_columns = 32 - (filter_size - 1), warps = BLOCK / 32;

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1, lane = threadIdx.x % 32;
    const int x = (blockIdx.x * warps + threadIdx.x / 32) * warp_columns + lane, top = blockIdx.y * ROWS;
    const int rows = min(ROWS, height - top);
    const bool stores = lane < warp_columns && x < width;
    float sums[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS + filter_size - 1; ++r) {
        if (r >= rows + filter_size - 1) break;
        const float own = x < pitch ? image[(top + r) * pitch + x] : 0;
        float pixels[filter_size];
#pragma unroll
        for (int c = 0; c < filter_size; ++c) pixels[c] = __shfl_down_sync(0xffffffffu, own, c);
#pragma unroll
        for (int k = 0; k < filter_size; ++k) {
            const int y = r - k;
            if (y < 0 || y >= ROWS) continue;
#pragma unroll
            for (int c = 0; c < filter_size; ++c) sums[y] += weights[k * filter_size + c] * pixels[c];
        }
    }
#pragma unroll
    for (int y = 0; y < ROWS; ++y)
        if (stores && y < rows) out[(top + y) * width + x] = sums[y];
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    constexpr int block_columns = warps * warp_columns;
    const dim3 blocks((width + block_columns - 1) / block_columns, (height + ROWS - 1) / ROWS);
    smoothing_filter_kernel<<<blocks, BLOCK>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
