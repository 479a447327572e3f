#include "labs/smoothing_filter/lab.h"

#define B 16
#define H 4             // halo right and below, as the image begins at the tile's corner

__constant__ float k5[25];

__global__ void smooth(const float* __restrict__ img, float* __restrict__ out, const int w, const int h)
{
    __shared__ float t[B + H][B + H];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
    const int iw = w + 4, ih = h + 4;

    // own pixel
    if (x < iw && y < ih) t[ty][tx] = img[y * iw + x];
    // to the right
    if (tx < H && x + B < iw && y < ih) t[ty][tx + B] = img[y * iw + x + B];
    // below
    if (ty < H && x < iw && y + B < ih) t[ty + B][tx] = img[(y + B) * iw + x];
    // corner
    if (tx < H && ty < H && x + B < iw && y + B < ih) t[ty + B][tx + B] = img[(y + B) * iw + x + B];

    __syncthreads();
    if (x >= w || y >= h) return;

    float s = 0.f;
    #pragma unroll
    for (int r = 0; r < 5; ++r)
        #pragma unroll
        for (int c = 0; c < 5; ++c)
            s += k5[r * 5 + c] * t[ty + r][tx + c];
    out[y * w + x] = s;
}

void smoothing_filter(const float* img, float* out, int w, int h, const float* f, void*)
{
    cudaMemcpyToSymbol(k5, f, 25 * sizeof(float), 0, cudaMemcpyHostToDevice);
    smooth<<<dim3((w + B - 1) / B, (h + B - 1) / B), dim3(B, B)>>>(img, out, w, h);
    CUDA_CHECK(cudaGetLastError());
}
