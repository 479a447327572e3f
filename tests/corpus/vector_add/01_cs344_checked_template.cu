// Problem set 0: add two vectors
#include <iostream>
#include <iomanip>
#include "labs/vector_add/lab.h"

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)

template <typename T>
void check(T err, const char* const func, const char* const file, const int line) {
  if (err != cudaSuccess) {
    std::cerr << "CUDA error at: " << file << ":" << line << std::endl;
    std::cerr << cudaGetErrorString(err) << " " << func << std::endl;
    exit(1);
  }
}

__global__
void add_vectors(const float* const d_a,
                 const float* const d_b,
                 float* const d_out,
                 const size_t numElems)
{
  const size_t idx = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (idx >= numElems)
    return;

  d_out[idx] = d_a[idx] + d_b[idx];
}

void vector_add(const float* d_a, const float* d_b, float* d_out, std::size_t numElems, void*)
{
  if (!numElems) return;
  const dim3 blockSize(512, 1, 1);
  const dim3 gridSize((numElems - 1) / blockSize.x + 1, 1, 1);
  add_vectors<<<gridSize, blockSize>>>(d_a, d_b, d_out, numElems);

  cudaDeviceSynchronize();
  checkCudaErrors(cudaGetLastError());
}

void vector_add_host(const float* h_a, const float* h_b, float* h_out, std::size_t numElems)
{
  float *d_a, *d_b, *d_out;
  checkCudaErrors(cudaMalloc(&d_a,   sizeof(float) * numElems));
  checkCudaErrors(cudaMalloc(&d_b,   sizeof(float) * numElems));
  checkCudaErrors(cudaMalloc(&d_out, sizeof(float) * numElems));

  checkCudaErrors(cudaMemcpy(d_a, h_a, sizeof(float) * numElems, cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(d_b, h_b, sizeof(float) * numElems, cudaMemcpyHostToDevice));

  vector_add(d_a, d_b, d_out, numElems, nullptr);

  checkCudaErrors(cudaMemcpy(h_out, d_out, sizeof(float) * numElems, cudaMemcpyDeviceToHost));

  checkCudaErrors(cudaFree(d_a));
  checkCudaErrors(cudaFree(d_b));
  checkCudaErrors(cudaFree(d_out));
}
