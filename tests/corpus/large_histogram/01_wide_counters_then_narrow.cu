#include <algorithm>
#include "labs/large_histogram/lab.h"

__global__ void count(const unsigned int* const d_values, unsigned int* const d_counts, const size_t n, const size_t bins)
{
  const size_t h = blockIdx.y;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(&d_counts[h * bins + d_values[h * n + i]], 1);
}

__global__ void narrow(const unsigned int* const d_counts, unsigned char* const d_bins, const size_t total)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < total; i += (size_t)gridDim.x * blockDim.x)
    d_bins[i] = min(d_counts[i], 255u);
}

std::size_t large_histogram_scratch_bytes(unsigned histograms, std::size_t, unsigned columns, unsigned rows)
{
  return sizeof(unsigned int) * histograms * columns * rows;
}

void large_histogram(const unsigned* d_values, unsigned char* d_bins, unsigned histograms, std::size_t n,
                     unsigned columns, unsigned rows, void* scratch)
{
  const size_t bins = (size_t)columns * rows, total = bins * histograms;
  unsigned int* const d_counts = (unsigned int*)scratch;
  CUDA_CHECK(cudaMemset(d_counts, 0, total * sizeof(unsigned int)));
  if (n > 0) {
    // a grid has at most 65535 blocks in y
    for (unsigned first = 0; first < histograms; first += 65535) {
      const dim3 grid((unsigned)std::min<size_t>((n + 255) / 256, 256), std::min(histograms - first, 65535u));
      count<<<grid, 256>>>(d_values + first * n, d_counts + first * bins, n, bins);
    }
  }
  narrow<<<1024, 256>>>(d_counts, d_bins, total);
  CUDA_CHECK(cudaGetLastError());
}
