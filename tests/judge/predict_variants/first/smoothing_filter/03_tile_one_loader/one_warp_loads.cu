// The first warp loads the tile, lane by lane along its rows, instead of a single thread.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 16
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 16
#endif
constexpr int tile_x = BLOCK_X + filter_size - 1, tile_y = BLOCK_Y + filter_size - 1;

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1, rows = height + filter_size - 1;  // of image
    const int left = blockIdx.x * BLOCK_X, top = blockIdx.y * BLOCK_Y;           // where the tile begins, in image
    __shared__ float tile[tile_y][tile_x];
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    if (thread < 32)
        for (int i = 0; i < tile_y && top + i < rows; ++i)
            for (int j = thread; j < tile_x && left + j < pitch; j += 32)
                tile[i][j] = image[(top + i) * pitch + left + j];
    __syncthreads();  // outside the if: all threads of a block must reach a barrier, or none

    const int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= width || y >= height) return;  // after the barrier
    float sum = 0;
    for (int r = 0; r < filter_size; ++r)
        for (int c = 0; c < filter_size; ++c)
            sum += weights[r * filter_size + c] * tile[threadIdx.y + r][threadIdx.x + c];
    out[y * width + x] = sum;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 threads(BLOCK_X, BLOCK_Y);
    const dim3 blocks((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    smoothing_filter_kernel<<<blocks, threads>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
