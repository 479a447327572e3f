#include "labs/saturating_histogram/lab.h"

// Position of element i in the pitched array.
__device__ inline size_t place(size_t i, size_t width, size_t pitch) { return i / width * pitch + i % width; }

template <int N>
__global__ void count(const unsigned *in, unsigned *sums, size_t width, size_t pitch, size_t n)
{
  __shared__ unsigned own[bin_count];
  for (int b = threadIdx.x; b < bin_count; b += blockDim.x) own[b] = 0;
  __syncthreads();

  const size_t stride = (size_t)blockDim.x * gridDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += N * stride) {
    unsigned v[N];
    #pragma unroll
    for (int k = 0; k < N; k++) v[k] = i + k * stride < n ? in[place(i + k * stride, width, pitch)] : bin_count;
    #pragma unroll
    for (int k = 0; k < N; k++)
      if (v[k] < bin_count) atomicAdd(own + v[k], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bin_count; b += blockDim.x)
    if (own[b]) atomicAdd(sums + b, min(own[b], bin_full));
}

__global__ void narrow(const unsigned *sums, unsigned char *bins)
{
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  bins[b] = sums[b] < bin_full ? sums[b] : bin_full;
}

size_t saturating_histogram_scratch_bytes(size_t, size_t) { return bin_count * sizeof(unsigned); }

void saturating_histogram(const unsigned *in, unsigned char *bins, size_t width, size_t height, size_t pitch, void *scratch)
{
  unsigned *sums = static_cast<unsigned *>(scratch);
  cudaMemset(sums, 0, bin_count * sizeof(unsigned));
  if (width * height) count<12><<<40, 256>>>(in, sums, width, pitch, width * height);
  narrow<<<4, 256>>>(sums, bins);
  CUDA_CHECK(cudaGetLastError());
}
