// The loop over rows is not unrolled, so the ring of sums has variable indices and lies in local memory.

#include "labs/smoothing_filter/lab.h"

#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROWS  // of the output, per thread
#define ROWS 8
#endif

__constant__ float weights[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
}

__global__ void __launch_bounds__(BLOCK)
    smoothing_filter_kernel(const float* image, float* out, int width, int height) {
    const int pitch = width + filter_size - 1;
    const int x = blockIdx.x * BLOCK + threadIdx.x, top = blockIdx.y * ROWS;
    if (x >= width) return;
    const int rows = min(ROWS, height - top);  // of out
    const float* const first = image + top * pitch + x;
    float sums[filter_size];  // that of row y of out is sums[y % filter_size]: unrolled, these are registers
#pragma unroll 1
    for (int r = 0; r < ROWS + filter_size - 1; ++r) {
        if (r >= rows + filter_size - 1) break;
        float pixels[filter_size];
#pragma unroll
        for (int c = 0; c < filter_size; ++c) pixels[c] = first[r * pitch + c];
#pragma unroll
        for (int k = 0; k < filter_size; ++k) {  // this is the k-th of the five rows that make row r - k of out
            const int y = r - k;
            if (y < 0 || y >= ROWS) continue;
            float sum = k == 0 ? 0 : sums[y % filter_size];
#pragma unroll
            for (int c = 0; c < filter_size; ++c) sum += weights[k * filter_size + c] * pixels[c];
            sums[y % filter_size] = sum;
        }
        const int done = r - (filter_size - 1);
        if (done >= 0) out[(top + done) * width + x] = sums[done % filter_size];
    }
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    const dim3 blocks((width + BLOCK - 1) / BLOCK, (height + ROWS - 1) / ROWS);
    smoothing_filter_kernel<<<blocks, BLOCK>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
