#include "labs/vector_add/lab.h"

__global__ void add(const float *d_a, const float *d_b, float *d_out)
{
  size_t idx = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float f = d_a[idx];
  d_out[idx] = f + d_b[idx];
}

void vector_add(const float *d_a, const float *d_b, float *d_out, size_t n, void *)
{
  if (n == 0) return;
  const int maxThreadsPerBlock = 1024;
  size_t blocks = (n + maxThreadsPerBlock - 1) / maxThreadsPerBlock;
  add<<<blocks, maxThreadsPerBlock>>>(d_a, d_b, d_out);
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float *h_a, const float *h_b, float *h_out, size_t n)
{
  float *d_a, *d_b, *d_out;
  CUDA_CHECK(cudaMalloc((void **)&d_a, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc((void **)&d_b, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc((void **)&d_out, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d_a, h_a, n * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_b, h_b, n * sizeof(float), cudaMemcpyHostToDevice));
  vector_add(d_a, d_b, d_out, n, NULL);
  CUDA_CHECK(cudaMemcpy(h_out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_out);
}
