#include "labs/dot_product/lab.h"

template <unsigned int blockSize>
__device__ void warpReduce(volatile int *sdata, unsigned int tid) {
  if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
  if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
  if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
  if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
  if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
  if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}

template <unsigned int blockSize>
__global__ void reduce6(const int *g_a, const int *g_b, int *g_odata, size_t n) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * (blockSize * 2) + tid;
  size_t gridSize = (size_t)blockSize * 2 * gridDim.x;
  sdata[tid] = 0;

  while (i < n) {
    sdata[tid] += g_a[i] * g_b[i];
    if (i + blockSize < n) sdata[tid] += g_a[i + blockSize] * g_b[i + blockSize];
    i += gridSize;
  }
  __syncthreads();

  if (blockSize >= 512) {
    if (tid < 256) sdata[tid] += sdata[tid + 256];
    __syncthreads();
  }
  if (blockSize >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }

  if (tid < 32) warpReduce<blockSize>(sdata, tid);
  if (tid == 0) atomicAdd(g_odata, sdata[0]);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *) {
  CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
  if (n == 0) return;
  reduce6<256><<<64, 256, 256 * sizeof(int)>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}
