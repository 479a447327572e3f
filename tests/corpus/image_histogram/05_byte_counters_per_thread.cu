// As the 64-bin sample: each thread has byte counters of its own, so no atomics while counting. A byte holds 255 counts
// at most, so that after 255 pixels the counters are added up and cleared.
#include "labs/image_histogram/lab.h"

#define THREADS 128
#define MAX_PER_ROUND 255

__global__ void byteHistogramKernel(const unsigned char *d_Data, size_t n, unsigned int *d_Histogram) {
  // counter b of thread t: s_Hist[b * THREADS + t]
  __shared__ __align__(16) unsigned char s_Hist[bin_count * THREADS];

  const size_t perBlock = (size_t)THREADS * MAX_PER_ROUND;
  for (size_t start = blockIdx.x * perBlock; start < n; start += gridDim.x * perBlock) {
    // clear, four counters at a time
    for (unsigned int i = threadIdx.x; i < bin_count * THREADS / 4; i += THREADS)
      reinterpret_cast<unsigned int *>(s_Hist)[i] = 0;
    __syncthreads();

    for (int k = 0; k < MAX_PER_ROUND; k++) {
      size_t pos = start + (size_t)k * THREADS + threadIdx.x;
      if (pos < n) s_Hist[d_Data[pos] * THREADS + threadIdx.x]++;
    }
    __syncthreads();

    for (unsigned int bin = threadIdx.x; bin < bin_count; bin += THREADS) {
      unsigned int sum = 0;
      for (unsigned int t = 0; t < THREADS; t++) sum += s_Hist[bin * THREADS + (t + threadIdx.x) % THREADS];
      atomicAdd(d_Histogram + bin, sum);
    }
    __syncthreads();
  }
}

void image_histogram(const unsigned char *d_Data, unsigned int *d_Histogram, size_t n, void *) {
  CUDA_CHECK(cudaMemset(d_Histogram, 0, bin_count * sizeof(unsigned int)));
  if (n == 0) return;
  byteHistogramKernel<<<128, THREADS>>>(d_Data, n, d_Histogram);
  CUDA_CHECK(cudaGetLastError());
}
