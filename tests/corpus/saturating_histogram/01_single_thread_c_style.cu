#include <stdio.h>
#include <stdlib.h>
#include "labs/saturating_histogram/lab.h"

#define CUDA_SAFE_CALL(x)                                                   \
    do {                                                                    \
        cudaError_t e = (x);                                                \
        if (e != cudaSuccess) {                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
            exit(2);                                                        \
        }                                                                   \
    } while (0)

__global__ void serial(const uint32_t *in, uint8_t *hist, size_t w, size_t h, size_t pitch)
{
    size_t x, y;
    int i;
    const uint32_t *row;

    for (i = 0; i < 1024; i++)
        hist[i] = 0;
    for (y = 0, row = in; y < h; y++, row += pitch)
        for (x = 0; x < w; x++)
            if (hist[row[x]] != 255)
                hist[row[x]]++;
}

void saturating_histogram(const uint32_t *in, uint8_t *hist, size_t w, size_t h, size_t pitch, void *unused)
{
    serial<<<1, 1>>>(in, hist, w, h, pitch);
    CUDA_SAFE_CALL(cudaGetLastError());
}

void saturating_histogram_host(const uint32_t *in, uint8_t *hist, size_t w, size_t h, size_t pitch)
{
    uint32_t *din;
    uint8_t *dhist;
    size_t bytes = h * pitch * sizeof(uint32_t);

    CUDA_SAFE_CALL(cudaMalloc((void **)&din, bytes));
    CUDA_SAFE_CALL(cudaMalloc((void **)&dhist, 1024));
    CUDA_SAFE_CALL(cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice));
    saturating_histogram(din, dhist, w, h, pitch, NULL);
    CUDA_SAFE_CALL(cudaMemcpy(hist, dhist, 1024, cudaMemcpyDeviceToHost));
    CUDA_SAFE_CALL(cudaFree(din));
    CUDA_SAFE_CALL(cudaFree(dhist));
}
