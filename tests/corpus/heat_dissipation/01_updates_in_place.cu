#include "labs/heat_dissipation/lab.h"

__global__ void update(double* u, const double* cond, int rows, int cols, unsigned long long* change)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    int w = cols + 2, k = (i + 1) * w + j + 1;
    double c = cond[i * cols + j], old = u[k];
    double direct = u[k - 1] + u[k + 1] + u[k - w] + u[k + w];
    double diagonal = u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1];
    u[k] = c * old + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
    atomicMax(change, (unsigned long long)__double_as_longlong(fabs(u[k] - old)));
}

__global__ void mirror(double* u, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double* row = u + (i + 1) * (cols + 2);
    row[0] = row[cols];
    row[cols + 1] = row[1];
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return 8; }

HeatState heat_dissipation(double* current, double* next, const double* cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void* scratch)
{
    HeatState s{current, 0, 0};
    dim3 block(32, 16), grid((cols + 31) / 32, (rows + 15) / 16);
    while (s.iterations < max_iterations) {
        CUDA_CHECK(cudaMemset(scratch, 0, 8));
        update<<<grid, block>>>(current, cond, rows, cols, (unsigned long long*)scratch);
        mirror<<<(rows + 255) / 256, 256>>>(current, rows, cols);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&s.largest_change, scratch, 8, cudaMemcpyDeviceToHost));
        s.iterations++;
        if (s.largest_change < threshold) break;
    }
    return s;
}
