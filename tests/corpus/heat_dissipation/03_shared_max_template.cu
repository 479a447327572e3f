#include <algorithm>
#include <utility>
#include "labs/heat_dissipation/lab.h"

struct MaxOp {
  __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

template <unsigned int blockSize, typename Op>
__device__ double blockReduce(double v, Op op) {
  __shared__ double sdata[blockSize];
  const unsigned int tid = threadIdx.x + blockDim.x * threadIdx.y;
  sdata[tid] = v;
  __syncthreads();
#pragma unroll
  for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] = op(sdata[tid], sdata[tid + s]);
    __syncthreads();
  }
  return sdata[0];
}

__device__ __forceinline__ double jacobi(const double *u, size_t pitch, double c) {
  const double direct = u[-1] + u[1] + *(u - pitch) + *(u + pitch);
  const double diagonal = *(u - pitch - 1) + *(u - pitch + 1) + *(u + pitch - 1) + *(u + pitch + 1);
  return c * *u + (1.0 - c) * (direct_weight * direct + diagonal_weight * diagonal);
}

__global__ void step(const double *u, double *v, const double *c, size_t rows, size_t columns, double *maxima) {
  const size_t pitch = columns + 2;
  double largest = 0.0;
  for (size_t i = blockIdx.x * blockDim.y + threadIdx.y; i < rows; i += gridDim.x * blockDim.y)
    for (size_t j = threadIdx.x; j < columns; j += blockDim.x) {
      const double *from = u + (i + 1) * pitch + j + 1;
      const double value = jacobi(from, pitch, c[i * columns + j]);
      double *row = v + (i + 1) * pitch;
      row[j + 1] = value;
      if (j == 0) row[columns + 1] = value;
      if (j + 1 == columns) row[0] = value;
      largest = fmax(largest, fabs(value - *from));
    }
  largest = blockReduce<256>(largest, MaxOp());
  if (threadIdx.x == 0 && threadIdx.y == 0) maxima[blockIdx.x] = largest;
}

__global__ void finish(double *maxima, int count) {
  double largest = 0.0;
  for (int k = threadIdx.x; k < count; k += blockDim.x) largest = fmax(largest, maxima[k]);
  largest = blockReduce<128>(largest, MaxOp());
  if (threadIdx.x == 0) maxima[0] = largest;
}

const unsigned int kMaxBlocks = 512;

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return kMaxBlocks * sizeof(double); }

HeatState heat_dissipation(double *current, double *next, const double *conductivity, size_t rows, size_t columns,
                           double threshold, size_t max_iterations, void *scratch) {
  double *maxima = (double *)scratch;
  const dim3 threads(32, 8);
  const unsigned int blocks = (unsigned int)std::min<size_t>((rows + 7) / 8, kMaxBlocks);
  HeatState state = {current, 0, 0.0};
  for (size_t k = 0; k < max_iterations; k++) {
    step<<<blocks, threads>>>(current, next, conductivity, rows, columns, maxima);
    CUDA_CHECK(cudaGetLastError());
    finish<<<1, 128>>>(maxima, blocks);
    CUDA_CHECK(cudaGetLastError());
    double change;
    CUDA_CHECK(cudaMemcpyAsync(&change, maxima, sizeof change, cudaMemcpyDeviceToHost, 0));
    CUDA_CHECK(cudaStreamSynchronize(0));
    state = {next, k + 1, change};
    if (change < threshold) break;
    std::swap(current, next);
  }
  return state;
}
