#include "labs/saturating_histogram/lab.h"

#define GRID 64
#define THREADS 512

__device__ unsigned int blocksDone = 0;

__global__ void __launch_bounds__(THREADS)
histogramSinglePass(const uint32_t *input, volatile unsigned int *partials, uint8_t *bins, size_t width, size_t height, size_t pitch) {
  __shared__ unsigned int s_Hist[bin_count];
  __shared__ bool isLast;

  for (unsigned int b = threadIdx.x; b < bin_count; b += THREADS) s_Hist[b] = 0;
  __syncthreads();

  const unsigned int warp = (blockIdx.x * THREADS + threadIdx.x) / 32, warps = gridDim.x * (THREADS / 32), lane = threadIdx.x % 32;
  const size_t vectors = width / 4;
  for (size_t y = warp; y < height; y += warps) {
    const uint4 *row = (const uint4 *)(input + y * pitch);
    for (size_t v = lane; v < vectors; v += 32) {
      uint4 q = __ldcs(row + v);
      atomicAdd(&s_Hist[q.x], 1);
      atomicAdd(&s_Hist[q.y], 1);
      atomicAdd(&s_Hist[q.z], 1);
      atomicAdd(&s_Hist[q.w], 1);
    }
    for (size_t x = 4 * vectors + lane; x < width; x += 32) atomicAdd(&s_Hist[input[y * pitch + x]], 1);
  }
  __syncthreads();

  for (unsigned int b = threadIdx.x; b < bin_count; b += THREADS) partials[blockIdx.x * bin_count + b] = s_Hist[b];
  __threadfence();  // every thread's own stores
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicInc(&blocksDone, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();

  if (isLast) {
    __threadfence();
    for (unsigned int b = threadIdx.x; b < bin_count; b += THREADS) {
      unsigned int sum = 0;
      for (unsigned int p = 0; p < gridDim.x; p++) sum += partials[p * bin_count + b];
      bins[b] = (uint8_t)min(sum, 255u);
    }
  }
}

size_t saturating_histogram_scratch_bytes(size_t, size_t) { return GRID * bin_count * sizeof(unsigned int); }

void saturating_histogram(const uint32_t *input, uint8_t *bins, size_t width, size_t height, size_t pitch, void *scratch) {
  histogramSinglePass<<<GRID, THREADS>>>(input, (unsigned int *)scratch, bins, width, height, pitch);
  CUDA_CHECK(cudaGetLastError());
}
