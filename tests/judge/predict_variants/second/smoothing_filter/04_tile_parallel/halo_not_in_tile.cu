// The tile has no halo: a thread reads a neighbour from it or, if it is outside, from global memory.

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
constexpr int tile_x = BLOCK_X, tile_y = BLOCK_Y * ROWS;

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    __shared__ float tile[tile_y][tile_x];
    const int pitch = width + filter_size - 1, rows = height + filter_size - 1;  // of image
    const int left = blockIdx.x * BLOCK_X, top = blockIdx.y * BLOCK_Y * ROWS;    // where the tile begins, in image
    // If the tile is larger than the rest of image, its last row or column is repeated.
    for (int i = threadIdx.y; i < tile_y; i += BLOCK_Y)
        for (int j = threadIdx.x; j < tile_x; j += BLOCK_X)
            tile[i][j] = image[min(top + i, rows - 1) * pitch + min(left + j, pitch - 1)];
    __syncthreads();

    const int x = left + threadIdx.x, y = top + threadIdx.y * ROWS;
    if (x >= width) return;
    float sums[ROWS] = {};
#pragma unroll
    for (int c = 0; c < filter_size; ++c) {
        float column[ROWS + filter_size - 1];  // read once, used by all rows of this thread
#pragma unroll
        for (int r = 0; r < ROWS + filter_size - 1; ++r) {
            const int i = threadIdx.y * ROWS + r, j = threadIdx.x + c;
            if (i < tile_y && j < tile_x)
                column[r] = tile[i][j];
            else
                column[r] = image[min(top + i, rows - 1) * pitch + left + j];
        }
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
#pragma unroll
            for (int r = 0; r < filter_size; ++r) sums[k] += weights[r * filter_size + c] * column[k + r];
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
