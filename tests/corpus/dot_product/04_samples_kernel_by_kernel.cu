#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "labs/dot_product/lab.h"

namespace {
constexpr unsigned kThreads = 128;
constexpr std::size_t kCpuFinalThreshold = 100;

std::size_t getNumBlocks(std::size_t n) { return (n + kThreads * 2 - 1) / (kThreads * 2); }
}  // namespace

__device__ void reduceBlock(int mySum, int *g_odata) {
  __shared__ int sdata[kThreads];
  sdata[threadIdx.x] = mySum;
  __syncthreads();
  for (unsigned int s = kThreads / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) sdata[threadIdx.x] = mySum = mySum + sdata[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) g_odata[blockIdx.x] = mySum;
}

__global__ void multiply(const int *a, const int *b, int *g_odata, std::size_t n) {
  std::size_t i = std::size_t(blockIdx.x) * (kThreads * 2) + threadIdx.x;
  int sum = i < n ? a[i] * b[i] : 0;
  if (i + kThreads < n) sum += a[i + kThreads] * b[i + kThreads];
  reduceBlock(sum, g_odata);
}

__global__ void reduce(const int *g_idata, int *g_odata, std::size_t n) {
  std::size_t i = std::size_t(blockIdx.x) * (kThreads * 2) + threadIdx.x;
  int sum = i < n ? g_idata[i] : 0;
  if (i + kThreads < n) sum += g_idata[i + kThreads];
  reduceBlock(sum, g_odata);
}

std::size_t dot_product_scratch_bytes(std::size_t n) {
  return (getNumBlocks(n) + getNumBlocks(getNumBlocks(n))) * sizeof(int);
}

void dot_product(const int *a, const int *b, int *out, std::size_t n, void *scratch) {
  int gpu_result = 0;
  if (n > 0) {
    std::size_t s = getNumBlocks(n);
    int *from = static_cast<int *>(scratch), *to = from + s;
    multiply<<<s, kThreads>>>(a, b, from, n);
    CUDA_CHECK(cudaGetLastError());
    while (s > kCpuFinalThreshold) {
      const std::size_t blocks = getNumBlocks(s);
      reduce<<<blocks, kThreads>>>(from, to, s);
      CUDA_CHECK(cudaGetLastError());
      std::swap(from, to);
      s = blocks;
    }
    // sum partial sums from each block on CPU
    std::vector<int> h_odata(s);
    CUDA_CHECK(cudaMemcpy(h_odata.data(), from, s * sizeof(int), cudaMemcpyDeviceToHost));
    gpu_result = static_cast<int>(std::accumulate(h_odata.begin(), h_odata.end(), 0u));
  }
  CUDA_CHECK(cudaMemcpy(out, &gpu_result, sizeof(int), cudaMemcpyHostToDevice));
}
