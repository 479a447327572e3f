#include <cooperative_groups.h>
#include "labs/dot_product/lab.h"

namespace cg = cooperative_groups;

/*
    This version uses the warp shuffle operation if available to reduce
    warp synchronization.
*/
template <class T, unsigned int blockSize>
__global__ void reduce4(const T *g_a, const T *g_b, T *g_odata, size_t n) {
  // Handle to thread block group
  cg::thread_block cta = cg::this_thread_block();
  __shared__ T sdata[blockSize];

  unsigned int tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * (blockDim.x * 2) + threadIdx.x;

  T mySum = (i < n) ? g_a[i] * g_b[i] : 0;

  if (i + blockSize < n) mySum += g_a[i + blockSize] * g_b[i + blockSize];

  sdata[tid] = mySum;
  cg::sync(cta);

  // do reduction in shared mem
  for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) {
      sdata[tid] = mySum = mySum + sdata[tid + s];
    }

    cg::sync(cta);
  }

  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);

  if (cta.thread_rank() < 32) {
    // Fetch final intermediate sum from 2nd warp
    if (blockSize >= 64) mySum += sdata[tid + 32];
    // Reduce final warp using shuffle
    for (int offset = tile32.size() / 2; offset > 0; offset /= 2) {
      mySum += tile32.shfl_down(mySum, offset);
    }
  }

  // write result for this block to global mem
  if (cta.thread_rank() == 0) atomicAdd(g_odata, mySum);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *) {
  CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
  if (n == 0) return;
  unsigned int threads = n >= 1024 ? 256 : n >= 512 ? 128 : 64;
  dim3 dimBlock(threads, 1, 1);
  dim3 dimGrid((unsigned int)((n + threads * 2 - 1) / (threads * 2)), 1, 1);
  switch (threads) {
    case 256:
      reduce4<int, 256><<<dimGrid, dimBlock>>>(a, b, out, n);
      break;

    case 128:
      reduce4<int, 128><<<dimGrid, dimBlock>>>(a, b, out, n);
      break;

    case 64:
      reduce4<int, 64><<<dimGrid, dimBlock>>>(a, b, out, n);
      break;
  }
  CUDA_CHECK(cudaGetLastError());
}
