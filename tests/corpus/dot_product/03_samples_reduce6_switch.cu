#include "labs/dot_product/lab.h"

unsigned int nextPow2(unsigned int x) {
  --x;
  x |= x >> 1;
  x |= x >> 2;
  x |= x >> 4;
  x |= x >> 8;
  x |= x >> 16;
  return ++x;
}

template <class T>
struct SharedMemory {
  __device__ inline operator T *() {
    extern __shared__ int __smem[];
    return (T *)__smem;
  }
  __device__ inline operator const T *() const {
    extern __shared__ int __smem[];
    return (T *)__smem;
  }
};

template <class T, unsigned int blockSize>
__global__ void reduce6(const T *g_a, const T *g_b, T *g_odata, size_t n) {
  T *sdata = SharedMemory<T>();
  unsigned int tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * blockSize * 2 + threadIdx.x;
  size_t gridSize = (size_t)blockSize * 2 * gridDim.x;
  T mySum = 0;
  while (i < n) {
    mySum += g_a[i] * g_b[i];
    if (i + blockSize < n) mySum += g_a[i + blockSize] * g_b[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  if ((blockSize >= 512) && (tid < 256)) sdata[tid] = mySum = mySum + sdata[tid + 256];
  __syncthreads();
  if ((blockSize >= 256) && (tid < 128)) sdata[tid] = mySum = mySum + sdata[tid + 128];
  __syncthreads();
  if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
  __syncthreads();
  if (tid < 32) {
    if (blockSize >= 64) mySum += sdata[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) mySum += __shfl_down_sync(0xffffffff, mySum, offset);
  }
  if (tid == 0) atomicAdd(g_odata, mySum);
}

void dot_product(const int *a, const int *b, int *out, std::size_t n, void *) {
  CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
  if (n == 0) return;
  const unsigned maxThreads = 256, maxBlocks = 64;
  unsigned threads = n < maxThreads * 2 ? nextPow2((unsigned)((n + 1) / 2)) : maxThreads;
  if (threads < 32) threads = 32;
  size_t wanted = (n + threads * 2 - 1) / (threads * 2);
  unsigned blocks = wanted < maxBlocks ? (unsigned)wanted : maxBlocks;
  int smemSize = (threads <= 32) ? 2 * threads * sizeof(int) : threads * sizeof(int);
  switch (threads) {
    case 512: reduce6<int, 512><<<blocks, threads, smemSize>>>(a, b, out, n); break;
    case 256: reduce6<int, 256><<<blocks, threads, smemSize>>>(a, b, out, n); break;
    case 128: reduce6<int, 128><<<blocks, threads, smemSize>>>(a, b, out, n); break;
    case 64: reduce6<int, 64><<<blocks, threads, smemSize>>>(a, b, out, n); break;
    case 32: reduce6<int, 32><<<blocks, threads, smemSize>>>(a, b, out, n); break;
  }
  CUDA_CHECK(cudaGetLastError());
}
