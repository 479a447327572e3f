#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#include "labs/image_histogram/lab.h"

typedef unsigned int uint;
typedef unsigned char uchar;

#define HISTOGRAM256_BIN_COUNT 256
#define PARTIAL_HISTOGRAM256_COUNT 240
#define MERGE_THREADBLOCK_SIZE 256

__global__ void histogram256Kernel(uint *d_PartialHistograms, const uchar *d_Data, size_t dataCount) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ uint s_Hist[HISTOGRAM256_BIN_COUNT];

  for (uint i = threadIdx.x; i < HISTOGRAM256_BIN_COUNT; i += blockDim.x) s_Hist[i] = 0;
  cg::sync(cta);

  for (size_t pos = (size_t)blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += (size_t)blockDim.x * gridDim.x)
    atomicAdd(s_Hist + d_Data[pos], 1);
  cg::sync(cta);

  for (uint bin = threadIdx.x; bin < HISTOGRAM256_BIN_COUNT; bin += blockDim.x)
    d_PartialHistograms[blockIdx.x * HISTOGRAM256_BIN_COUNT + bin] = s_Hist[bin];
}

////////////////////////////////////////////////////////////////////////////////
// Merge histogram256() output
// Run one threadblock per bin; each threadblock adds up the same bin counter
// from every partial histogram. Reads are uncoalesced, but mergeHistogram256
// takes only a fraction of total processing time
////////////////////////////////////////////////////////////////////////////////
__global__ void mergeHistogram256Kernel(uint *d_Histogram, uint *d_PartialHistograms, uint histogramCount) {
  cg::thread_block cta = cg::this_thread_block();

  uint sum = 0;

  for (uint i = threadIdx.x; i < histogramCount; i += MERGE_THREADBLOCK_SIZE) {
    sum += d_PartialHistograms[blockIdx.x + i * HISTOGRAM256_BIN_COUNT];
  }

  __shared__ uint data[MERGE_THREADBLOCK_SIZE];
  data[threadIdx.x] = sum;

  for (uint stride = MERGE_THREADBLOCK_SIZE / 2; stride > 0; stride >>= 1) {
    cg::sync(cta);

    if (threadIdx.x < stride) {
      data[threadIdx.x] += data[threadIdx.x + stride];
    }
  }

  if (threadIdx.x == 0) {
    d_Histogram[blockIdx.x] = data[0];
  }
}

std::size_t image_histogram_scratch_bytes(std::size_t) {
  return PARTIAL_HISTOGRAM256_COUNT * HISTOGRAM256_BIN_COUNT * sizeof(uint);
}

void image_histogram(const uchar *d_Data, uint *d_Histogram, size_t byteCount, void *scratch) {
  uint *d_PartialHistograms = (uint *)scratch;
  histogram256Kernel<<<PARTIAL_HISTOGRAM256_COUNT, 192>>>(d_PartialHistograms, d_Data, byteCount);
  CUDA_CHECK(cudaGetLastError());

  mergeHistogram256Kernel<<<HISTOGRAM256_BIN_COUNT, MERGE_THREADBLOCK_SIZE>>>(d_Histogram, d_PartialHistograms,
                                                                             PARTIAL_HISTOGRAM256_COUNT);
  CUDA_CHECK(cudaGetLastError());
}
