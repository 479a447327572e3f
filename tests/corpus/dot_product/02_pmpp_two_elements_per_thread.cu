#include "labs/dot_product/lab.h"

#define BLOCK_SIZE 512

__global__ void total(const int *x, const int *y, int *output, size_t len) {
  __shared__ int partialSum[2 * BLOCK_SIZE];
  unsigned int t = threadIdx.x;
  size_t start = 2 * (size_t)blockIdx.x * BLOCK_SIZE;

  // Load a segment of the input vectors into shared memory
  if (start + t < len)
    partialSum[t] = x[start + t] * y[start + t];
  else
    partialSum[t] = 0;

  if (start + BLOCK_SIZE + t < len)
    partialSum[BLOCK_SIZE + t] = x[start + BLOCK_SIZE + t] * y[start + BLOCK_SIZE + t];
  else
    partialSum[BLOCK_SIZE + t] = 0;

  // Traverse the reduction tree
  for (unsigned int stride = 1; stride <= BLOCK_SIZE; stride *= 2) {
    __syncthreads();
    if (t % stride == 0)
      partialSum[2 * t] += partialSum[2 * t + stride];
  }

  // Thread 0 wrote partialSum[0] itself
  if (t == 0)
    atomicAdd(output, partialSum[0]);
}

#define wbCheck(stmt)                                                     \
  do {                                                                    \
    cudaError_t err = stmt;                                               \
    if (err != cudaSuccess) {                                             \
      fprintf(stderr, "Failed to run stmt %s\n", #stmt);                  \
      fprintf(stderr, "Got CUDA error ...  %s\n", cudaGetErrorString(err)); \
      exit(-1);                                                           \
    }                                                                     \
  } while (0)

void dot_product(const int *x, const int *y, int *output, size_t len, void *) {
  wbCheck(cudaMemset(output, 0, sizeof(int)));
  if (len == 0) return;
  dim3 DimGrid((unsigned)((len - 1) / (BLOCK_SIZE << 1) + 1), 1, 1);
  dim3 DimBlock(BLOCK_SIZE, 1, 1);
  total<<<DimGrid, DimBlock>>>(x, y, output, len);
  wbCheck(cudaGetLastError());
}
