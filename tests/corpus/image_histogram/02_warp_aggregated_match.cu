#include "labs/image_histogram/lab.h"

// Lanes with the same pixel find each other, and one of them adds for all.
__global__ void hist_kernel(const unsigned char *pixels, unsigned int *bins, size_t n)
{
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  const unsigned int lane = threadIdx.x & 31;
  // every lane of a warp does the same number of turns
  for (size_t base = (size_t)blockIdx.x * blockDim.x + threadIdx.x - lane; base < n; base += stride) {
    const size_t i = base + lane;
    const int value = i < n ? pixels[i] : -1;
    const unsigned int peers = __match_any_sync(0xffffffff, value);
    const unsigned int leader = __ffs(peers) - 1;
    if (lane == leader && value >= 0)
      atomicAdd(&bins[value], __popc(peers));
  }
}

void image_histogram(const unsigned char *pixels, unsigned int *bins, size_t n, void *)
{
  CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(unsigned int)));
  hist_kernel<<<128, 256>>>(pixels, bins, n);
  CUDA_CHECK(cudaGetLastError());
}
