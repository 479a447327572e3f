#include "labs/dot_product/lab.h"

#define B 256

__global__ void k(const int *a, const int *b, int *out, size_t n)
{
  __shared__ int v[B];
  const unsigned tid = threadIdx.x;
  const size_t gid = blockIdx.x * (size_t) B + tid;
  v[tid] = gid < n ? a[gid] * b[gid] : 0;
  __syncthreads();
  for (unsigned s = B / 2; s > 0; s >>= 1) {
    v[tid] += v[tid + s];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(out, v[0]);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *)
{
  CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
  if (n) k<<<(n + B - 1) / B, B>>>(a, b, out, n);
  CUDA_CHECK(cudaGetLastError());
}
