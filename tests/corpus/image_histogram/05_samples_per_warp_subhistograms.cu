#include "labs/image_histogram/lab.h"

#define LOG2_WARP_SIZE 5U
#define WARP_SIZE (1U << LOG2_WARP_SIZE)
#define WARP_COUNT 6
#define HISTOGRAM256_THREADBLOCK_SIZE (WARP_COUNT * WARP_SIZE)
#define UINT_BITS 32

typedef unsigned int uint;

inline __device__ void addByte(uint *s_WarpHist, uint data) { atomicAdd(s_WarpHist + data, 1); }

inline __device__ void addWord(uint *s_WarpHist, uint data) {
  addByte(s_WarpHist, (data >> 0) & 0xFFU);
  addByte(s_WarpHist, (data >> 8) & 0xFFU);
  addByte(s_WarpHist, (data >> 16) & 0xFFU);
  addByte(s_WarpHist, (data >> 24) & 0xFFU);
}

__global__ void histogram256Kernel(uint *d_Histogram, const uint *d_Data, size_t words, const unsigned char *d_Tail, uint tail) {
  // Per-warp subhistogram storage
  __shared__ uint s_Hist[WARP_COUNT * bin_count];
  uint *s_WarpHist = s_Hist + (threadIdx.x >> LOG2_WARP_SIZE) * bin_count;

  // Clear shared memory storage for current threadblock before processing
#pragma unroll
  for (uint i = 0; i < (bin_count / WARP_SIZE); i++) {
    s_Hist[threadIdx.x + i * HISTOGRAM256_THREADBLOCK_SIZE] = 0;
  }

  __syncthreads();

  // Cycle through the entire data set, update subhistograms for each warp
  for (size_t pos = (size_t)blockIdx.x * blockDim.x + threadIdx.x; pos < words; pos += (size_t)blockDim.x * gridDim.x) {
    addWord(s_WarpHist, d_Data[pos]);
  }
  if (blockIdx.x == 0 && threadIdx.x < tail) addByte(s_WarpHist, d_Tail[threadIdx.x]);

  // Merge per-warp histograms into per-block and write to global memory
  __syncthreads();

  for (uint bin = threadIdx.x; bin < bin_count; bin += HISTOGRAM256_THREADBLOCK_SIZE) {
    uint sum = 0;

    for (uint i = 0; i < WARP_COUNT; i++) {
      sum += s_Hist[bin + i * bin_count];
    }

    atomicAdd(&d_Histogram[bin], sum);
  }
}

void image_histogram(const unsigned char *d_Data, uint *d_Histogram, size_t byteCount, void *) {
  CUDA_CHECK(cudaMemset(d_Histogram, 0, bin_count * sizeof(uint)));
  const size_t words = byteCount / sizeof(uint);
  histogram256Kernel<<<240, HISTOGRAM256_THREADBLOCK_SIZE>>>(d_Histogram, (const uint *)d_Data, words,
                                                             d_Data + words * sizeof(uint), byteCount % sizeof(uint));
  CUDA_CHECK(cudaGetLastError());
}
