#include "labs/dot_product/lab.h"

const int block_size = 512;
const int max_blocks = 64;

__global__ void reduce(const int *x, const int *y, int *sums, size_t N){
  __shared__ int sdata[block_size];
  int tid = threadIdx.x;
  sdata[tid] = 0;
  size_t idx = threadIdx.x+blockDim.x*(size_t)blockIdx.x;

  while (idx < N) {  // grid stride loop to load data
    sdata[tid] += x[idx]*y[idx];
    idx += (size_t)gridDim.x*blockDim.x;
  }

  for (unsigned int s=blockDim.x/2; s>0; s>>=1) {
    __syncthreads();
    if (tid < s)  // parallel sweep reduction
      sdata[tid] += sdata[tid + s];
  }
  if (tid == 0) sums[blockIdx.x] = sdata[0];
}

void dot_product(const int *x, const int *y, int *out, size_t N, void *){
  int *sums;
  CUDA_CHECK(cudaMallocManaged(&sums, max_blocks*sizeof(int)));
  reduce<<<max_blocks, block_size>>>(x, y, sums, N);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(0));
  unsigned total = 0;
  for (int i = 0; i < max_blocks; i++) total += sums[i];
  CUDA_CHECK(cudaFree(sums));
  CUDA_CHECK(cudaMemcpy(out, &total, sizeof(total), cudaMemcpyHostToDevice));
}
