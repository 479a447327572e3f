/* A 2D filter with its weights in constant memory. */
#include <cuda_runtime.h>
#include <cstdio>
#include <cmath>

#define RADIUS 2
#define FILTER_LENGTH (2 * RADIUS + 1)

__constant__ float c_filter[FILTER_LENGTH * FILTER_LENGTH];
static __constant__ int c_shift = 1, c_bounds[2] = {0, 1};
__device__ __managed__ unsigned launches;

__global__ void convolve(float *dst, const float *src, int w, int h)
{
    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    const int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x == 0 && y == 0) atomicAdd(&launches, 1);
    if (x >= w || y >= h) return;

    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int sx = min(max(x + dx, 0), w - 1);
            int sy = min(max(y + dy, 0), h - 1);
            sum += src[sy * w + sx] * c_filter[(dy + RADIUS) * FILTER_LENGTH + dx + RADIUS];
        }
    }
    dst[y * w + x] = sum + c_shift * c_bounds[1];
}

int main(int argc, char **argv)
{
    const int w = 50, h = 37;
    float filter[FILTER_LENGTH * FILTER_LENGTH], back[FILTER_LENGTH * FILTER_LENGTH];
    for (int i = 0; i < FILTER_LENGTH * FILTER_LENGTH; i++) filter[i] = i % 3;
    if (cudaMemcpyToSymbol(c_filter, filter, sizeof(filter)) != cudaSuccess) return 1;
    if (cudaMemcpyFromSymbol(back, c_filter, sizeof(back)) != cudaSuccess) return 1;
    for (int i = 0; i < FILTER_LENGTH * FILTER_LENGTH; i++) if (back[i] != filter[i]) return 1;
    int shift = 4;
    cudaMemcpyToSymbol(c_shift, &shift, sizeof(int), 0, cudaMemcpyHostToDevice);

    float *src, *dst;
    cudaMallocManaged(&src, w * h * sizeof *src);
    cudaMallocManaged(&dst, w * h * sizeof *dst);
    for (int i = 0; i < w * h; i++) src[i] = (float)(i % 11);
    dim3 threads = dim3(16, 8), blocks((w + threads.x - 1) / threads.x, (h + threads.y - 1) / threads.y);
    convolve<<<blocks, threads>>>(dst, src, w, h);
    cudaDeviceSynchronize();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int dy = -RADIUS; dy <= RADIUS; dy++)
                for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                    int sx = x + dx < 0 ? 0 : x + dx >= w ? w - 1 : x + dx;
                    int sy = y + dy < 0 ? 0 : y + dy >= h ? h - 1 : y + dy;
                    sum += src[sy * w + sx] * filter[(dy + RADIUS) * FILTER_LENGTH + dx + RADIUS];
                }
            if (fabsf(dst[y * w + x] - sum - 4) > 1e-4f) { printf("wrong at %d,%d\n", x, y); return 1; }
        }
    return launches == 1 ? 0 : 1;
}
