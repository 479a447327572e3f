#include "labs/smoothing_filter/lab.h"

#define IMG(x, y) image[(y) * (width + 4) + (x)]

__global__ void blur(const float *image, float *out, int width, int height, const float *filter)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
    {
        float acc = 0;
        for (int r = 0; r < 5; r++)
        {
            for (int c = 0; c < 5; c++)
            {
                acc += filter[r * 5 + c] * IMG(x + c, y + r);
            }
        }
        out[y * width + x] = acc;
    }
}

void smoothing_filter(const float *image, float *out, int width, int height, const float *filter, void *scratch)
{
    float *d_filter;
    CUDA_CHECK(cudaMalloc((void **)&d_filter, 25 * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_filter, filter, 25 * sizeof(float), cudaMemcpyHostToDevice));

    dim3 dimBlock(16, 16, 1);
    dim3 dimGrid((width + 15) / 16, (height + 15) / 16, 1);
    blur<<<dimGrid, dimBlock>>>(image, out, width, height, d_filter);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaFree(d_filter));
}
