// Each thread computes two pixels, one below the other, from 30 loads instead of 50.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 16
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 16
#endif

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = (blockIdx.y * BLOCK_Y + threadIdx.y) * 2;
    if (x >= width || y >= height) return;
    const int pitch = width + filter_size - 1;
    const bool both = y + 1 < height;
    float sum = 0, next = 0;
    for (int r = 0; r <= filter_size; ++r)
        for (int c = 0; c < filter_size; ++c) {
            if (r == filter_size && !both) break;
            const float pixel = image[(y + r) * pitch + x + c];
            if (r < filter_size) sum += weights[r * filter_size + c] * pixel;
            if (r > 0) next += weights[(r - 1) * filter_size + c] * pixel;
        }
    out[y * width + x] = sum;
    if (both) out[(y + 1) * width + x] = next;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 threads(BLOCK_X, BLOCK_Y);
    const dim3 blocks((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y * 2 - 1) / (BLOCK_Y * 2));
    smoothing_filter_kernel<<<blocks, threads>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
