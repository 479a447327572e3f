// All threads load the tile. The halo makes it larger than the block's part of out, so each thread loads a pixel of
// the tile and then those one block further right and down, until the halo and its corners are loaded, too. Each thread
// also computes ROWS pixels, one below the other. They need mostly the same pixels of the tile, which it reads once.

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
    const int left = blockIdx.x * BLOCK_X, top = blockIdx.y * BLOCK_Y * ROWS;    // where the tile begins, in image
    // TODO: every thread copies tile[threadIdx.y][threadIdx.x], and those BLOCK_X further to the right and
    // BLOCK_Y further down, up to the end of the tile. Read nothing beyond image's last row and column: write a
    // value, such as 0, to the rest of the tile: threads also read its rows below image. Then wait for all threads.
    (void)tile, (void)pitch, (void)rows;

    const int x = left + threadIdx.x, y = top + threadIdx.y * ROWS;
    if (x >= width) return;
    float sums[ROWS] = {};
    // TODO: ROWS sums, one below the other. Column by column of the filter, read ROWS + 4 pixels of the tile once
    // and add five of them to each sum.
    (void)sums, (void)weights, (void)tile;
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
