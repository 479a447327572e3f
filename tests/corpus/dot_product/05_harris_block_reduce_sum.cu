#include <algorithm>
#include "labs/dot_product/lab.h"

#define FULL_MASK 0xffffffff

__inline__ __device__
int warpReduceSum(int val) {
  for (int offset = warpSize/2; offset > 0; offset /= 2)
    val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

__inline__ __device__
int blockReduceSum(int val) {

  static __shared__ int shared[32]; // Shared mem for 32 partial sums
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;

  val = warpReduceSum(val);     // Each warp performs partial reduction

  if (lane==0) shared[wid]=val; // Write reduced value to shared memory

  __syncthreads();              // Wait for all partial reductions

  //read from shared memory only if that warp existed
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;

  if (wid==0) val = warpReduceSum(val); //Final reduce within first warp

  return val;
}

__global__ void deviceReduceVector4Kernel(const int *a, const int *b, int* out, size_t N) {
  int sum = 0;
  size_t idx = blockIdx.x*(size_t)blockDim.x+threadIdx.x;
  for (size_t i = idx; i < N/4; i += (size_t)blockDim.x*gridDim.x) {
    int4 x = reinterpret_cast<const int4*>(a)[i];
    int4 y = reinterpret_cast<const int4*>(b)[i];
    sum += (x.x*y.x+x.y*y.y) + (x.z*y.z+x.w*y.w);
  }
  size_t i = idx+N/4*4;
  if (i<N) {
    sum+=a[i]*b[i];
  }
  sum = blockReduceSum(sum);
  if (threadIdx.x==0)
    atomicAdd(out, sum);
}

void dot_product(const int *a, const int *b, int *out, size_t N, void*) {
  cudaMemsetAsync(out, 0, sizeof(int));
  int threads = 512;
  int blocks = (int)std::min((N/4 + threads - 1) / threads + 1, (size_t)1024);
  deviceReduceVector4Kernel<<<blocks, threads>>>(a, b, out, N);
  CUDA_CHECK(cudaGetLastError());
}
