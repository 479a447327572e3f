// Iterations that were launched after the last one still change the fields.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "labs/heat_dissipation/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
#ifndef ROWS  // rows that a thread computes, one after the other
#define ROWS 4
#endif
constexpr unsigned warp_threads = 32;
constexpr unsigned warps_per_block = BLOCK_X * BLOCK_Y / warp_threads;
static_assert(BLOCK_X % warp_threads == 0 && warps_per_block <= warp_threads, "whole warps along a row");

// A cell's old temperature, and the sum of its neighbours left and right.
struct Sides {
    double centre, sides;
};

__device__ Sides load_sides(const double* cell) { return {cell[0], cell[-1] + cell[1]}; }

// Lane 0 gets the largest of its warp's values.
__device__ double warp_maximum(double value) {
    constexpr unsigned all_lanes = 0xffffffffu;
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2)
        value = std::fmax(value, __shfl_down_sync(all_lanes, value, distance));
    return value;
}

// The bits of doubles that are not negative have the same order as the doubles, so atomicMax of integers is enough.
__device__ void keep_block_maximum(double value, double* maximum) {
    __shared__ double largest[warps_per_block];
    const unsigned thread = threadIdx.y * BLOCK_X + threadIdx.x, lane = thread % warp_threads;
    value = warp_maximum(value);
    if (lane == 0) largest[thread / warp_threads] = value;
    __syncthreads();
    if (thread >= warp_threads) return;
    value = warp_maximum(lane < warps_per_block ? largest[lane] : 0);
    if (lane == 0)
        atomicMax(reinterpret_cast<unsigned long long*>(maximum),
                  static_cast<unsigned long long>(__double_as_longlong(value)));
}

// This thread's cells, ROWS in a column from row `first` on; returns their largest change.
__device__ double update_cells(const double* current, double* next, const double* conductivity, std::size_t first,
                               std::size_t j, std::size_t rows, std::size_t columns) {
    const std::size_t pitch = columns + 2;
    double largest = 0;
    const double* cell = current + first * pitch + j + 1;  // in the row above the first one
    Sides above = load_sides(cell), here = load_sides(cell + pitch);
#pragma unroll
    for (unsigned k = 0; k < ROWS; ++k) {
        const std::size_t i = first + k;
        if (i >= rows) break;
        const Sides below = load_sides(current + (i + 2) * pitch + j + 1);
        const double c = conductivity[i * columns + j];
        const double direct = above.centre + below.centre + here.sides, diagonal = above.sides + below.sides;
        const double value = c * here.centre + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
        double* row = next + (i + 1) * pitch;
        row[j + 1] = value;
        if (j == 0) row[columns + 1] = value;
        if (j == columns - 1) row[0] = value;
        largest = std::fmax(largest, std::fabs(value - here.centre));
        above = here;
        here = below;
    }
    return largest;
}

// changes[iteration] begins as 0, below any positive threshold. Launches after the last iteration leave it 0.
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    iterate_kernel(const double* current, double* next, const double* conductivity, std::size_t rows,
                   std::size_t columns, double threshold, double* changes, std::size_t iteration) {
    (void)threshold;
    const std::size_t j = std::size_t{blockIdx.x} * BLOCK_X + threadIdx.x;
    double largest = 0;
    if (j < columns)
        for (std::size_t first = (std::size_t{blockIdx.y} * BLOCK_Y + threadIdx.y) * ROWS; first < rows;
             first += std::size_t{gridDim.y} * BLOCK_Y * ROWS)
            largest = std::fmax(largest, update_cells(current, next, conductivity, first, j, rows, columns));
    keep_block_maximum(largest, changes + iteration);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return std::max<std::size_t>(max_iterations, 1) * sizeof(double);  // the largest change of every iteration
}

constexpr std::size_t batch = 64;  // iterations that are launched before the host checks

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, max_iterations * sizeof(double)));
    const dim3 block(BLOCK_X, BLOCK_Y);
    constexpr std::size_t rows_of_block = BLOCK_Y * ROWS;
    const dim3 grid(static_cast<unsigned>((columns + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>(std::min<std::size_t>((rows + rows_of_block - 1) / rows_of_block, 65535)));
    double* const fields[] = {current, next};
    std::vector<double> seen;
    for (std::size_t begin = 0; begin < max_iterations; begin += batch) {
        const std::size_t end = std::min(begin + batch, max_iterations);
        for (std::size_t i = begin; i < end; ++i) {
            iterate_kernel<<<grid, block>>>(fields[i % 2], fields[(i + 1) % 2], conductivity, rows, columns, threshold,
                                            changes, i);
            CUDA_CHECK(cudaGetLastError());
        }
        seen.resize(end - begin);
        CUDA_CHECK(cudaMemcpy(seen.data(), changes + begin, seen.size() * sizeof(double), cudaMemcpyDeviceToHost));
        for (std::size_t k = 0; k < seen.size(); ++k)
            if (seen[k] < threshold || begin + k + 1 == max_iterations)
                return {fields[(begin + k + 1) % 2], begin + k + 1, seen[k]};
    }
    return {current, 0, 0};
}
