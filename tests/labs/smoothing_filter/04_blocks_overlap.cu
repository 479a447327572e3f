// Blocks begin BLOCK_Y rows apart, although each computes BLOCK_Y * ROWS rows.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
#ifndef ROWS  // of out, per thread
#define ROWS 4
#endif
constexpr int tile_x = BLOCK_X + filter_size - 1, tile_y = BLOCK_Y * ROWS + filter_size - 1;

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    __shared__ float tile[tile_y][tile_x];
    const int pitch = width + filter_size - 1, rows = height + filter_size - 1;  // of image
    const int left = blockIdx.x * BLOCK_X, top = blockIdx.y * BLOCK_Y;           // where the tile begins, in image
    for (int r = threadIdx.y; r < tile_y; r += BLOCK_Y)
        for (int c = threadIdx.x; c < tile_x; c += BLOCK_X)
            tile[r][c] = top + r < rows && left + c < pitch ? image[(top + r) * pitch + left + c] : 0.0f;
    __syncthreads();

    const int x = left + threadIdx.x, y = top + threadIdx.y * ROWS;
    if (x >= width) return;
    float sums[ROWS] = {};
    for (int c = 0; c < 5; ++c) {
        float column[ROWS + 4];
        for (int r = 0; r < ROWS + 4; ++r) column[r] = tile[threadIdx.y * ROWS + r][threadIdx.x + c];
        for (int k = 0; k < ROWS; ++k)
            for (int r = 0; r < 5; ++r) sums[k] += weights[r * 5 + c] * column[k + r];
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k)
        if (y + k < height) out[(y + k) * width + x] = sums[k];
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 threads(BLOCK_X, BLOCK_Y);
    const dim3 blocks((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y * ROWS - 1) / (BLOCK_Y * ROWS));
    smoothing_filter_kernel<<<blocks, threads>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
