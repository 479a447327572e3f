// reduceMultiBlockCG: all blocks are resident, so they can wait for each other.
#include <cooperative_groups.h>
#include "labs/dot_product/lab.h"

namespace cg = cooperative_groups;

#define THREADS 256
#define MAX_BLOCKS 1024

__device__ void reduceBlock(int *sdata, const cg::thread_block &cta) {
  const unsigned int tid = cta.thread_rank();
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);

  int beta = sdata[tid];
  for (int i = tile32.size() / 2; i > 0; i >>= 1) beta += tile32.shfl_down(beta, i);
  if (tile32.thread_rank() == 0) sdata[tid] = beta;
  cg::sync(cta);

  if (cta.thread_rank() == 0) {
    beta = 0;
    for (int i = 0; i < blockDim.x; i += tile32.size()) beta += sdata[i];
    sdata[0] = beta;
  }
  cg::sync(cta);
}

__global__ void reduceSinglePassMultiBlockCG(const int *a, const int *b, int *partial, int *out, size_t n) {
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  extern __shared__ int sdata[];

  // Stride over grid and add the values to a shared memory buffer
  sdata[block.thread_rank()] = 0;
  for (size_t i = grid.thread_rank(); i < n; i += grid.size()) sdata[block.thread_rank()] += a[i] * b[i];

  cg::sync(block);

  // Reduce each block (called once per block)
  reduceBlock(sdata, block);
  // Write out the result to global memory
  if (block.thread_rank() == 0) partial[blockIdx.x] = sdata[0];
  cg::sync(grid);

  if (grid.thread_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += partial[i];
    *out = sum;
  }
}

size_t dot_product_scratch_bytes(size_t) { return MAX_BLOCKS * sizeof(int); }

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch) {
  int device, sms, numBlocksPerSm = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&numBlocksPerSm, reduceSinglePassMultiBlockCG, THREADS,
                                                           THREADS * sizeof(int)));
  int numBlocks = sms * numBlocksPerSm;
  if (numBlocks > MAX_BLOCKS) numBlocks = MAX_BLOCKS;

  int *partial = (int *)scratch;
  void *kernelArgs[] = {(void *)&a, (void *)&b, (void *)&partial, (void *)&out, (void *)&n};
  dim3 dimBlock(THREADS, 1, 1), dimGrid(numBlocks, 1, 1);
  CUDA_CHECK(cudaLaunchCooperativeKernel((void *)reduceSinglePassMultiBlockCG, dimGrid, dimBlock, kernelArgs,
                                         THREADS * sizeof(int), NULL));
}
