#include <utility>
#include "labs/heat_dissipation/lab.h"

__device__ void atomicMaxDouble(double* address, double value)
{
  unsigned long long int* bits = (unsigned long long int*)address;
  unsigned long long int old = *(volatile unsigned long long int*)bits, assumed;
  while (value > __longlong_as_double(old)) {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value));
    if (old == assumed) break;
  }
}

__global__ void update(const double* const d_in, double* const d_out, const double* const d_cond, const size_t rows, const size_t cols)
{
  const size_t cells = rows * cols, w = cols + 2;
  for (size_t cell = blockIdx.x * (size_t)blockDim.x + threadIdx.x; cell < cells; cell += (size_t)gridDim.x * blockDim.x)
  {
    const size_t i = cell / cols, j = cell % cols;
    const double* p = d_in + (i + 1) * w + j + 1;
    const double* up = p - w;
    const double* down = p + w;
    const double c = d_cond[cell];
    const double value = c * p[0] + (1 - c) * (direct_weight * (up[0] + down[0] + p[-1] + p[1]) +
                                               diagonal_weight * (up[-1] + up[1] + down[-1] + down[1]));
    d_out[(i + 1) * w + j + 1] = value;
    if (j == 0) d_out[(i + 1) * w + cols + 1] = value;
    if (j == cols - 1) d_out[(i + 1) * w] = value;
  }
}

__global__ void max_change(const double* const d_a, const double* const d_b, const size_t count, double* const d_max)
{
  extern __shared__ double sdata[];
  double mine = 0.0;
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < count; k += (size_t)gridDim.x * blockDim.x)
    mine = fmax(mine, fabs(d_a[k] - d_b[k]));
  sdata[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1)
  {
    if (threadIdx.x < s) sdata[threadIdx.x] = fmax(sdata[threadIdx.x], sdata[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMaxDouble(d_max, sdata[0]);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t, std::size_t, std::size_t) { return sizeof(double); }

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch)
{
  double* d_max = static_cast<double*>(scratch);
  HeatState result{current, 0, 0};
  while (result.iterations < max_iterations)
  {
    update<<<256, 128>>>(current, next, conductivity, rows, columns);
    CUDA_CHECK(cudaMemset(d_max, 0, sizeof(double)));
    max_change<<<64, 256, 256 * sizeof(double)>>>(current, next, (rows + 2) * (columns + 2), d_max);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&result.largest_change, d_max, sizeof(double), cudaMemcpyDeviceToHost));
    result.field = next;
    ++result.iterations;
    if (result.largest_change < threshold) break;
    std::swap(current, next);
  }
  return result;
}
