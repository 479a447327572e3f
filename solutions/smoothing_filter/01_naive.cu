// One thread, one pixel: it reads 25 pixels and 25 weights from global memory. Neighbouring threads read nearly the
// same pixels, so each pixel is requested 25 times. Only the caches prevent 25 reads of the whole image from memory.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 16
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 16
#endif

__device__ float weights[filter_size * filter_size];  // in global memory, for the kernel to read

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    //@ begin
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int pitch = width + filter_size - 1;  // pixels from a row of image to the next
    float sum = 0;
    for (int r = 0; r < filter_size; ++r)
        for (int c = 0; c < filter_size; ++c) sum += weights[r * filter_size + c] * image[(y + r) * pitch + x + c];
    out[y * width + x] = sum;
    //@ starter
    //@ // TODO: compute this thread's pixel (x, y). Blocks are BLOCK_X wide and BLOCK_Y high, and the last ones reach
    //@ // beyond the picture. Its sum needs 25 pixels, from image row y and column x on: rows of image are wider than
    //@ // rows of out.
    //@ end
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    //@ begin
    const dim3 threads(BLOCK_X, BLOCK_Y);
    const dim3 blocks((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    smoothing_filter_kernel<<<blocks, threads>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: launch smoothing_filter_kernel with blocks of BLOCK_X x BLOCK_Y threads, and enough of them in both
    //@ // directions (dim3). The weights are on the device already: smoothing_filter_prepare copies them.
    //@ end
}
