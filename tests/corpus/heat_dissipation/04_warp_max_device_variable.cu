#include <utility>
#include "labs/heat_dissipation/lab.h"

__device__ unsigned long long largestBits;

__inline__ __device__ double warpMax(double v) {
  for (int mask = warpSize / 2; mask > 0; mask /= 2) {
    double other = __shfl_xor_sync(0xffffffff, v, mask);
    v = other > v ? other : v;
  }
  return v;
}

// One warp per row of blocks of 32 columns; lanes past the last column take part in the shuffles with 0.
__global__ void iterate(const double *in, double *out, const double *cond, int rows, int columns)
{
  const int j = blockIdx.x * 32 + threadIdx.x;
  const size_t pitch = columns + 2;
  double change = 0;
  for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += gridDim.y * blockDim.y) {
    if (j < columns) {
      const double *a = in + i * pitch + j, *b = a + pitch, *d = b + pitch;
      const double c = cond[(size_t)i * columns + j];
      const double value = c * b[1] + (1 - c) * (direct_weight * (a[1] + b[0] + b[2] + d[1]) +
                                                 diagonal_weight * (a[0] + a[2] + d[0] + d[2]));
      double *row = out + (i + 1) * pitch;
      row[j + 1] = value;
      if (j == 0) row[columns + 1] = value;
      if (j == columns - 1) row[0] = value;
      change = fmax(change, fabs(value - b[1]));
    }
  }
  change = warpMax(change);
  if (threadIdx.x == 0) atomicMax(&largestBits, (unsigned long long)__double_as_longlong(change));
}

HeatState heat_dissipation(double *current, double *next, const double *conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void *)
{
  dim3 block(32, 4);
  size_t down = (rows + 3) / 4;
  dim3 grid((columns + 31) / 32, down < 4096 ? down : 4096);
  HeatState s{current, 0, 0};
  for (; s.iterations < max_iterations && (s.iterations == 0 || !(s.largest_change < threshold)); ++s.iterations) {
    unsigned long long bits = 0;
    CUDA_CHECK(cudaMemcpyToSymbol(largestBits, &bits, sizeof bits));
    iterate<<<grid, block>>>(current, next, conductivity, (int)rows, (int)columns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyFromSymbol(&s.largest_change, largestBits, sizeof(double)));
    s.field = next;
    std::swap(current, next);
  }
  return s;
}
