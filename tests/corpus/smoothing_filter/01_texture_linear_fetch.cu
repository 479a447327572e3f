#include "labs/smoothing_filter/lab.h"

__constant__ float w[25];

__global__ void smoothFetch(cudaTextureObject_t image, float *out, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix < nx && iy < ny)
    {
        float sum = 0.f;
        for (int k = 0; k < 25; k++) sum += w[k] * tex1Dfetch<float>(image, (iy + k / 5) * (nx + 4) + ix + k % 5);
        out[iy * nx + ix] = sum;
    }
}

void smoothing_filter(const float *image, float *out, int nx, int ny, const float *filter, void *)
{
    CUDA_CHECK(cudaMemcpyToSymbol(w, filter, sizeof(w)));
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeLinear;
    res.res.linear.devPtr = (void *)image;
    res.res.linear.desc = cudaCreateChannelDesc<float>();
    res.res.linear.sizeInBytes = (size_t)(nx + 4) * (ny + 4) * sizeof(float);
    cudaTextureDesc desc = {};
    desc.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    CUDA_CHECK(cudaCreateTextureObject(&tex, &res, &desc, NULL));
    smoothFetch<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(tex, out, nx, ny);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaDestroyTextureObject(tex));
}
