#include <algorithm>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "labs/heat_dissipation/lab.h"

namespace cg = cooperative_groups;

__global__ void iteration(const double* from, double* to, const double* cond, int rows, int columns, double threshold,
                          unsigned long long* changes, size_t k)
{
    // after the last iteration all blocks have nothing to do
    if (k > 0 && __longlong_as_double(changes[k - 1]) < threshold) return;

    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const size_t w = columns + 2, cells = (size_t)rows * columns, step = (size_t)gridDim.x * blockDim.x;
    double largest = 0;
    for (size_t cell = blockIdx.x * (size_t)blockDim.x + threadIdx.x; cell < cells; cell += step) {
        const size_t i = cell / columns, j = cell % columns;
        const double* p = from + (i + 1) * w + j + 1;
        const double direct = p[-1] + p[1] + *(p - w) + p[w];
        const double diagonal = *(p - w - 1) + *(p - w + 1) + p[w - 1] + p[w + 1];
        const double c = cond[cell], fresh = c * *p + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
        double* row = to + (i + 1) * w;
        row[j + 1] = fresh;
        if (j == 0) row[w - 1] = fresh;
        if (j == columns - 1) row[0] = fresh;
        largest = fmax(largest, fabs(fresh - *p));
    }
    largest = cg::reduce(warp, largest, cg::greater<double>());
    if (warp.thread_rank() == 0) atomicMax(changes + k, (unsigned long long)__double_as_longlong(largest));
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t max_iterations)
{
    return (max_iterations + 1) * sizeof(double);
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, size_t rows, size_t columns,
                           double threshold, size_t max_iterations, void* scratch)
{
    auto* changes = static_cast<unsigned long long*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, (max_iterations + 1) * sizeof(double)));
    double* fields[2] = {current, next};
    const size_t batch = 16;
    std::vector<double> seen(batch);
    for (size_t k = 0; k < max_iterations; k += batch) {
        const size_t count = std::min(batch, max_iterations - k);
        for (size_t m = k; m < k + count; ++m)
            iteration<<<120, 256>>>(fields[m & 1], fields[1 - (m & 1)], conductivity, (int)rows, (int)columns, threshold, changes, m);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(seen.data(), changes + k, count * sizeof(double), cudaMemcpyDeviceToHost));
        for (size_t m = 0; m < count; ++m)
            if (seen[m] < threshold || k + m + 1 == max_iterations) return {fields[1 - ((k + m) & 1)], k + m + 1, seen[m]};
    }
    return {current, 0, 0};
}
