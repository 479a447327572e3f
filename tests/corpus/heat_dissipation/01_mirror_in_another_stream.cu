#include <utility>
#include "labs/heat_dissipation/lab.h"

__global__ void update(const double *u, double *v, const double *cond, int rows, int cols, unsigned long long *change)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    int w = cols + 2, k = (i + 1) * w + j + 1;
    double c = cond[i * cols + j];
    v[k] = c * u[k] + (1 - c) * (direct_weight * (u[k - 1] + u[k + 1] + u[k - w] + u[k + w]) +
                                 diagonal_weight * (u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1]));
    atomicMax(change, (unsigned long long)__double_as_longlong(fabs(v[k] - u[k])));
}

__global__ void mirror(double *v, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double *row = v + (i + 1) * (cols + 2);
    row[0] = row[cols];
    row[cols + 1] = row[1];
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return 8; }

HeatState heat_dissipation(double *current, double *next, const double *cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void *scratch)
{
    cudaStream_t side;
    CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    HeatState s{current, 0, 0};
    dim3 block(32, 16), grid((cols + 31) / 32, (rows + 15) / 16);
    while (s.iterations < max_iterations)
    {
        CUDA_CHECK(cudaMemset(scratch, 0, 8));
        update<<<grid, block>>>(current, next, cond, rows, cols, (unsigned long long *)scratch);
        mirror<<<(rows + 255) / 256, 256, 0, side>>>(next, rows, cols);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&s.largest_change, scratch, 8, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaStreamSynchronize(side));
        s.field = next;
        s.iterations++;
        if (s.largest_change < threshold) break;
        std::swap(current, next);
    }
    CUDA_CHECK(cudaStreamDestroy(side));
    return s;
}
