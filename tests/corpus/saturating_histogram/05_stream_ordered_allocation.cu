#include <algorithm>
#include "labs/saturating_histogram/lab.h"

__global__ void histogram1024(const unsigned int *d_in, unsigned int *d_counts, size_t width, size_t height, size_t pitch) {
  __shared__ unsigned int s_Hist[bin_count];
  const unsigned int tid = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;

  for (unsigned int i = tid; i < bin_count; i += threads) s_Hist[i] = 0;
  __syncthreads();

  for (size_t y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
    for (size_t x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x)
      atomicAdd(&s_Hist[d_in[y * pitch + x]], 1U);
  __syncthreads();

  for (unsigned int i = tid; i < bin_count; i += threads)
    if (s_Hist[i] > 0) atomicAdd(&d_counts[i], s_Hist[i]);
}

__global__ void clampToByte(const unsigned int *d_counts, unsigned char *d_bins) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  d_bins[i] = (unsigned char)min(d_counts[i], bin_full);
}

void saturating_histogram(const std::uint32_t *input, std::uint8_t *bins, size_t width, size_t height, size_t pitch, void *) {
  cudaStream_t stream = 0;
  unsigned int *d_counts = nullptr;
  CUDA_CHECK(cudaMallocAsync((void **)&d_counts, bin_count * sizeof(unsigned int), stream));
  CUDA_CHECK(cudaMemsetAsync(d_counts, 0, bin_count * sizeof(unsigned int), stream));

  dim3 block(32, 8);
  dim3 grid(8, (unsigned int)std::min<size_t>((height + block.y - 1) / block.y, 32));
  if (grid.y > 0) histogram1024<<<grid, block, 0, stream>>>(input, d_counts, width, height, pitch);
  clampToByte<<<bin_count / 256, 256, 0, stream>>>(d_counts, bins);
  CUDA_CHECK(cudaGetLastError());

  CUDA_CHECK(cudaFreeAsync(d_counts, stream));
}
