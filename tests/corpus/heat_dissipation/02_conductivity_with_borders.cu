#include <utility>
#include "labs/heat_dissipation/lab.h"

__global__ void update(const double* u, double* v, const double* cond, int rows, int cols, unsigned long long* change)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    int w = cols + 2, k = (i + 1) * w + j + 1;
    double c = cond[k];
    double value = c * u[k] + (1 - c) * (direct_weight * (u[k - 1] + u[k + 1] + u[k - w] + u[k + w]) +
                                         diagonal_weight * (u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1]));
    v[k] = value;
    if (j == 0) v[k + cols] = value;
    if (j == cols - 1) v[k - cols] = value;
    atomicMax(change, (unsigned long long)__double_as_longlong(fabs(value - u[k])));
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return 8; }

HeatState heat_dissipation(double* current, double* next, const double* cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void* scratch)
{
    HeatState s{current, 0, 0};
    dim3 block(16, 16), grid((cols + 15) / 16, (rows + 15) / 16);
    while (s.iterations < max_iterations) {
        CUDA_CHECK(cudaMemset(scratch, 0, 8));
        update<<<grid, block>>>(current, next, cond, rows, cols, (unsigned long long*)scratch);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&s.largest_change, scratch, 8, cudaMemcpyDeviceToHost));
        s.field = next;
        s.iterations++;
        if (s.largest_change < threshold) break;
        std::swap(current, next);
    }
    return s;
}
