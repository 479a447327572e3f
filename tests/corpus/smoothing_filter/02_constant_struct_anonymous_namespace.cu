#include <cstring>
#include "labs/smoothing_filter/lab.h"

namespace {

struct Config {
    float row[5][5];
    int reserved;
};

__constant__ Config config;

__device__ float weighted(const float* at, int pitch) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < 5; ++r, at += pitch) {
        const float (&w)[5] = config.row[r];
        sum += w[0] * at[0] + w[1] * at[1] + w[2] * at[2] + w[3] * at[3] + w[4] * at[4];
    }
    return sum;
}

__global__ void kernel(const float* image, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    for (int y = blockIdx.y; y < height; y += gridDim.y) out[y * width + x] = weighted(image + y * (width + 4) + x, width + 4);
}

}  // namespace

void smoothing_filter(const float* image, float* out, int width, int height, const float* filter, void*) {
    Config host{};
    std::memcpy(host.row, filter, sizeof host.row);
    CUDA_CHECK(cudaMemcpyToSymbolAsync(config, &host, sizeof host, 0, cudaMemcpyHostToDevice, 0));
    kernel<<<dim3((width + 127) / 128, height < 1000 ? height : 1000), 128>>>(image, out, width, height);
    CUDA_CHECK(cudaGetLastError());
}
