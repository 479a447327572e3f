#include "labs/smoothing_filter/lab.h"

__constant__ float coefficients[25];

void smoothing_filter_prepare(int, int, const float *filter)
{
    CUDA_CHECK(cudaMemcpyToSymbol(coefficients, filter, sizeof(coefficients)));
}

__global__ void kernel(const float *image, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = 0;
    float next = coefficients[0], sum = 0;
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++) {
            float now = next;
            next = coefficients[++i];
            sum += now * image[(y + r) * (width + 4) + x + c];
        }
    out[y * width + x] = sum + 0 * next;
}

void smoothing_filter(const float *image, float *out, int width, int height, const float *, void *)
{
    kernel<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
