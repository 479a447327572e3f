#include <utility>
#include "labs/heat_dissipation/lab.h"

__global__ void update(const double* u, double* v, const double* cond, int rows, int cols, unsigned long long* largest)
{
    int w = cols + 2;
    double d = 0;
    for (int cell = blockIdx.x * blockDim.x + threadIdx.x; cell < rows * cols; cell += gridDim.x * blockDim.x) {
        int i = cell / cols, j = cell % cols, k = (i + 1) * w + j + 1;
        double c = cond[cell];
        v[k] = c * u[k] + (1 - c) * (direct_weight * (u[k - 1] + u[k + 1] + u[k - w] + u[k + w]) +
                                     diagonal_weight * (u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1]));
        if (j == 0) v[k + cols] = v[k];
        if (j == cols - 1) v[k - cols] = v[k];
        d = fmax(d, fabs(v[k] - u[k]));
    }
    for (int m = 16; m > 0; m /= 2) d = fmax(d, __shfl_down_sync(0xffffffffu, d, m));
    if (threadIdx.x % 32 == 0) atomicMax(largest, (unsigned long long)__double_as_longlong(d));
}

HeatState heat_dissipation(double* current, double* next, const double* cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void*)
{
    unsigned long long* d_largest;
    CUDA_CHECK(cudaMalloc(&d_largest, sizeof(*d_largest)));
    double largest = 0;
    size_t k = 0;
    if (max_iterations == 0) return {current, 0, 0};
    for (; k < max_iterations; ++k) {
        CUDA_CHECK(cudaMemset(d_largest, 0, sizeof(*d_largest)));
        update<<<32, 256>>>(current, next, cond, rows, cols, d_largest);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&largest, d_largest, sizeof(double), cudaMemcpyDeviceToHost));
        std::swap(current, next);
        if (largest < threshold) return {current, k + 1, largest};
    }
    CUDA_CHECK(cudaFree(d_largest));
    return {current, k, largest};
}
