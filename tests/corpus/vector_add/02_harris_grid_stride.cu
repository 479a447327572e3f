#include "labs/vector_add/lab.h"

__global__
void add(size_t n, const float *x, const float *y, float *z)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
         i < n;
         i += (size_t)blockDim.x * gridDim.x)
      {
          z[i] = x[i] + y[i];
      }
}

void vector_add(const float *x, const float *y, float *z, size_t N, void *)
{
    int devId = 0, numSMs;
    cudaGetDevice(&devId);
    cudaDeviceGetAttribute(&numSMs, cudaDevAttrMultiProcessorCount, devId);
    // add all elements on the GPU, even when there are none
    add<<<32*numSMs, 256>>>(N, x, y, z);
    CUDA_CHECK(cudaGetLastError());
}
