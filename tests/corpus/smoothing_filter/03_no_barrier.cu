#include "labs/smoothing_filter/lab.h"

__constant__ float weights[25];

__global__ void smooth(const float* image, float* out, int width, int height)
{
    __shared__ float tile[20][20];
    int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    if (threadIdx.x == 0 && threadIdx.y == 0)
        for (int j = 0; j < 20; ++j)
            for (int i = 0; i < 20; ++i)
                tile[j][i] = y0 + j < height + 4 && x0 + i < width + 4 ? image[(y0 + j) * (width + 4) + x0 + i] : 0.f;
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    float s = 0;
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) s += weights[5 * j + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * width + x] = s;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* filter, void*)
{
    CUDA_CHECK(cudaMemcpyToSymbol(weights, filter, sizeof weights));
    smooth<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
