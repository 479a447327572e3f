#include <utility>
#include "labs/heat_dissipation/lab.h"

__global__ void update(const double* u, double* v, const double* cond, int rows, int cols, double* largest)
{
    __shared__ double s[256];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 32 + threadIdx.x;
    double d = 0;
    if (i < rows && j < cols) {
        int w = cols + 2, k = (i + 1) * w + j + 1;
        double c = cond[i * cols + j];
        double value = c * u[k] + (1 - c) * (direct_weight * (u[k - 1] + u[k + 1] + u[k - w] + u[k + w]) +
                                             diagonal_weight * (u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1]));
        v[k] = value;
        if (j == 0) v[k + cols] = value;
        if (j == cols - 1) v[k - cols] = value;
        d = fabs(value - u[k]);
    }
    s[t] = d;
    __syncthreads();
    for (int h = 128; h > 0; h /= 2) {
        if (t < h) s[t] = fmax(s[t], s[t + h]);
        __syncthreads();
    }
    if (t == 0 && s[0] > *largest) *largest = s[0];
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return sizeof(double); }

HeatState heat_dissipation(double* current, double* next, const double* cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void* scratch)
{
    HeatState s{current, 0, 0};
    dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
    while (s.iterations < max_iterations) {
        CUDA_CHECK(cudaMemset(scratch, 0, sizeof(double)));
        update<<<grid, block>>>(current, next, cond, rows, cols, (double*)scratch);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&s.largest_change, scratch, sizeof(double), cudaMemcpyDeviceToHost));
        s.field = next;
        s.iterations++;
        if (s.largest_change < threshold) break;
        std::swap(current, next);
    }
    return s;
}
