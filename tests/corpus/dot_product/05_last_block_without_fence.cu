#include "labs/dot_product/lab.h"

__device__ unsigned int finished = 0;

#define THREADS 256
#define BLOCKS 80

__global__ void reduceSinglePass(const int *a, const int *b, int *partial, int *out, size_t n) {
  __shared__ int sdata[THREADS];
  __shared__ bool amLast;
  unsigned int tid = threadIdx.x;
  int sum = 0;
  for (size_t i = (size_t)blockIdx.x * THREADS + tid; i < n; i += (size_t)BLOCKS * THREADS) sum += a[i] * b[i];
  sdata[tid] = sum;
  __syncthreads();
  for (unsigned int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }

  if (tid == 0) {
    partial[blockIdx.x] = sdata[0];
    amLast = atomicAdd(&finished, 1u) == BLOCKS - 1;
  }
  __syncthreads();

  if (amLast && tid == 0) {
    sum = 0;
    for (int i = 0; i < BLOCKS; i++) sum += partial[i];
    *out = sum;
    finished = 0;
  }
}

size_t dot_product_scratch_bytes(size_t) { return BLOCKS * sizeof(int); }

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch) {
  reduceSinglePass<<<BLOCKS, THREADS>>>(a, b, (int *)scratch, out, n);
  CUDA_CHECK(cudaGetLastError());
}
