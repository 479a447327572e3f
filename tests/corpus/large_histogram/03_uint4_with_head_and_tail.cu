#include <cstdint>
#include "labs/large_histogram/lab.h"

template <unsigned int CAP>
__device__ __forceinline__ void increment(unsigned int *words, unsigned int bin)
{
  unsigned int *p = words + (bin >> 2);
  const unsigned int shift = 8 * (bin & 3), one = 1u << shift, mask = 0xFFu << shift;
  unsigned int seen = *(volatile unsigned int *)p;
  while ((seen & mask) < (CAP << shift)) {
    const unsigned int before = atomicCAS(p, seen, seen + one);
    if (before == seen) break;
    seen = before;
  }
}

__global__ void histogram(const unsigned int *values, unsigned int *words, size_t n, size_t wordsPerHistogram)
{
  const unsigned int *in = values + blockIdx.x * n;
  unsigned int *out = words + blockIdx.x * wordsPerHistogram;
  for (size_t i = threadIdx.x; i < wordsPerHistogram; i += blockDim.x) out[i] = 0;
  __syncthreads();

  // elements before the first 16-byte boundary
  const size_t misaligned = (reinterpret_cast<uintptr_t>(in) & 15) / sizeof(unsigned int);
  size_t head = misaligned ? 4 - misaligned : 0;
  if (head > n) head = n;
  const size_t quads = (n - head) / 4;
  const uint4 *in4 = reinterpret_cast<const uint4 *>(in + head);

  if (threadIdx.x < head) increment<soft_cap>(out, in[threadIdx.x]);
  for (size_t q = threadIdx.x; q < quads; q += blockDim.x) {
    const uint4 v = in4[q];
    increment<soft_cap>(out, v.x);
    increment<soft_cap>(out, v.y);
    increment<soft_cap>(out, v.z);
    increment<soft_cap>(out, v.w);
  }
  for (size_t i = head + 4 * quads + threadIdx.x; i < n; i += blockDim.x) increment<soft_cap>(out, in[i]);
}

void large_histogram(const unsigned int *values, unsigned char *bins, unsigned int histograms, size_t n,
                     unsigned int columns, unsigned int rows, void *)
{
  histogram<<<histograms, 768>>>(values, reinterpret_cast<unsigned int *>(bins), n, (size_t)columns * rows / 4);
  CUDA_CHECK(cudaGetLastError());
}
