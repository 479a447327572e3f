#include "labs/dot_product/lab.h"

__inline__ __device__ int warpReduceSum(int val) {
  for (int offset = 16; offset > 0; offset /= 2)
    val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}

__global__ void dotKernel(const int *a, const int *b, int *out, size_t N) {
  static __shared__ int shared[32];
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  int sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < N; i += (size_t)blockDim.x * gridDim.x)
    sum += a[i] * b[i];
  sum = warpReduceSum(sum);
  if (lane == 0) shared[wid] = sum;
  __syncthreads();
  if (wid == 0) {
    sum = warpReduceSum(shared[lane]);
    if (lane == 0) atomicAdd(out, sum);
  }
}

void dot_product(const int *a, const int *b, int *out, size_t N, void*) {
  CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
  dotKernel<<<64, 256>>>(a, b, out, N);
  CUDA_CHECK(cudaGetLastError());
}
