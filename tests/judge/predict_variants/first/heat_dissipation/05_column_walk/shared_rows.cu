// Each row of the walk goes to shared memory, where a thread finds the cells left and right of its own.

#include <algorithm>
#include <cmath>
#include <utility>

#include "labs/heat_dissipation/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef ROWS  // rows that a thread computes, one after the other
#define ROWS 8
#endif

constexpr int warp_threads = 32, warps_per_block = BLOCK / warp_threads;
static_assert(BLOCK % warp_threads == 0 && warps_per_block <= warp_threads, "whole warps");

// A cell's old temperature, and the sum of its neighbours left and right.
struct Sides {
    double centre, sides;
};

// All threads of the block call this, with the row that begins at `row`; a thread beyond it has no cell.
__device__ Sides load_sides(const double* row, int count, double* shared) {
    __syncthreads();  // until all threads have read the previous row
    for (int k = threadIdx.x; k < count; k += BLOCK) shared[k] = row[k];
    __syncthreads();
    const int x = threadIdx.x;
    if (x + 2 >= count) return {0, 0};
    return {shared[x + 1], shared[x] + shared[x + 2]};
}

// Lane 0 gets the largest of its warp's values.
__device__ double warp_maximum(double value) {
    for (int distance = warp_threads / 2; distance > 0; distance /= 2)
        value = std::fmax(value, __shfl_down_sync(0xffffffffu, value, distance));
    return value;
}

// The bits of doubles that are not negative have the same order as the doubles, so atomicMax of integers is enough. Few
// blocks find a new maximum, so most only read: atomics on one address wait for each other.
__device__ void keep_block_maximum(double value, double* maximum) {
    __shared__ double largest[warps_per_block];
    const int lane = threadIdx.x % warp_threads;
    value = warp_maximum(value);
    if (lane == 0) largest[threadIdx.x / warp_threads] = value;
    __syncthreads();
    if (threadIdx.x >= warp_threads) return;
    value = warp_maximum(lane < warps_per_block ? largest[lane] : 0);
    if (lane == 0 && value > *static_cast<volatile double*>(maximum))
        atomicMax(reinterpret_cast<unsigned long long*>(maximum),
                  static_cast<unsigned long long>(__double_as_longlong(value)));
}

// Updates up to ROWS rows of the block's cells. current, next and conductivity point to the first row's beginning.
__device__ double update_cells(const double* current, double* next, const double* conductivity, int cells, int left,
                               int columns) {
    __shared__ double shared[BLOCK + 2];
    const int j = left + threadIdx.x, count = min(BLOCK, columns - left) + 2;
    double largest = 0;
    const std::size_t pitch = columns + 2;
    const double* row = current + left;
    Sides above = load_sides(row - pitch, count, shared), here = load_sides(row, count, shared);
    for (int k = 0; k < cells; ++k) {
        const Sides below = load_sides(row + (k + 1) * pitch, count, shared);
        if (j < columns) {
            const double c = conductivity[std::size_t{1} * k * columns + j];
            const double direct = above.centre + below.centre + here.sides, diagonal = above.sides + below.sides;
            const double value = c * here.centre + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
            double* const cells_of_row = next + k * pitch + 1;
            cells_of_row[j] = value;
            if (j == 0) cells_of_row[columns] = value;
            if (j == columns - 1) cells_of_row[-1] = value;
            largest = std::fmax(largest, std::fabs(value - here.centre));
        }
        above = here;
        here = below;
    }
    return largest;
}

// maximum is initially 0.
__global__ void __launch_bounds__(BLOCK) iterate_kernel(const double* current, double* next, const double* conductivity,
                                                        int rows, int columns, double* maximum) {
    const int across = (columns + BLOCK - 1) / BLOCK;  // blocks next to each other
    const int left = blockIdx.x % across * BLOCK, top = blockIdx.x / across * ROWS;
    const std::size_t first = (top + std::size_t{1}) * (columns + 2);
    const double largest = update_cells(current + first, next + first, conductivity + std::size_t{1} * top * columns,
                                        min(ROWS, rows - top), left, columns);
    keep_block_maximum(largest, maximum);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return std::max<std::size_t>(max_iterations, 1) * sizeof(double);  // the largest change of every iteration
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, max_iterations * sizeof(double)));
    const std::size_t across = (columns + BLOCK - 1) / BLOCK, down = (rows + ROWS - 1) / ROWS;
    const dim3 grid(static_cast<unsigned>(across * down));
    HeatState state{current, 0, 0};
    while (state.iterations < max_iterations) {
        double* const change = changes + state.iterations;
        iterate_kernel<<<grid, BLOCK>>>(current, next, conductivity, static_cast<int>(rows), static_cast<int>(columns),
                                        change);
        CUDA_CHECK(cudaGetLastError());
        double largest;
        CUDA_CHECK(cudaMemcpy(&largest, change, sizeof largest, cudaMemcpyDeviceToHost));
        state = {next, state.iterations + 1, largest};
        if (state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
