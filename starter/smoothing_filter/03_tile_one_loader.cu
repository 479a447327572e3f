// The block's pixels and the halo of two around them are loaded to shared memory once and read from there 25 times.
// Here one thread loads everything, and the others wait. This is the slowest stage: it shows what waiting costs.

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
    // TODO: an array tile of tile_y x tile_x floats in shared memory. One thread of the block copies image
    // to it, from row top and column left on, but nothing beyond image's end. All others wait for it: where does
    // the __syncthreads() belong?
    (void)pitch, (void)rows, (void)tile_x, (void)tile_y;

    const int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= width || y >= height) return;  // after the barrier
    float sum = 0;
    // TODO: the weighted sum, with all pixels from tile.
    out[y * width + x] = sum;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 threads(BLOCK_X, BLOCK_Y);
    const dim3 blocks((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    smoothing_filter_kernel<<<blocks, threads>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
