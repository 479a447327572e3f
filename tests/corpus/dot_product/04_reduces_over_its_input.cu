#include <vector>
#include "labs/dot_product/lab.h"

const unsigned THREADS = 128;

__device__ int blockSum(int v) {
  __shared__ int sdata[THREADS];
  sdata[threadIdx.x] = v;
  __syncthreads();
  for (unsigned s = THREADS / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) sdata[threadIdx.x] += sdata[threadIdx.x + s];
    __syncthreads();
  }
  return sdata[0];
}

__global__ void products(const int *a, const int *b, int *sums, size_t n) {
  size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
  int sum = blockSum(i < n ? a[i] * b[i] : 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void shrink(int *sums, size_t n) {
  size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
  int sum = blockSum(i < n ? sums[i] : 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

size_t dot_product_scratch_bytes(size_t n) { return ((n + THREADS - 1) / THREADS) * sizeof(int); }

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch) {
  int *sums = (int *)scratch;
  size_t left = (n + THREADS - 1) / THREADS;
  unsigned total = 0;
  if (n > 0) {
    products<<<left, THREADS>>>(a, b, sums, n);
    CUDA_CHECK(cudaGetLastError());
    while (left > 256) {
      size_t blocks = (left + THREADS - 1) / THREADS;
      shrink<<<blocks, THREADS>>>(sums, left);
      CUDA_CHECK(cudaGetLastError());
      left = blocks;
    }
    std::vector<int> host(left);
    CUDA_CHECK(cudaMemcpy(host.data(), sums, left * sizeof(int), cudaMemcpyDeviceToHost));
    for (int h : host) total += h;
  }
  CUDA_CHECK(cudaMemcpy(out, &total, sizeof total, cudaMemcpyHostToDevice));
}
