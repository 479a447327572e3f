#include "labs/smoothing_filter/lab.h"

__device__ float weights[25];

__global__ void blur(const float* image, float* out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float acc = 0;
    for (int k = 0; k < 25; k++) acc += weights[k] * image[(y + k / 5) * (width + 4) + x + k % 5];
    out[y * width + x] = acc;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* filter, void*)
{
    cudaMemcpyToSymbol(weights, filter, sizeof(weights));
    dim3 block(33, 33), grid((width + 32) / 33, (height + 32) / 33);
    blur<<<grid, block>>>(image, out, width, height);
}
