// After each iteration, a kernel of one thread sets a flag that stops later ones: twice the launches.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "labs/heat_dissipation/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef ROWS  // rows that a thread computes, one after the other
#define ROWS 8
#endif
#ifndef AHEAD  // rows that are being loaded while one is computed
#define AHEAD 4
#endif
constexpr int warp_threads = 32, warps_per_block = BLOCK / warp_threads;
static_assert(BLOCK % warp_threads == 0 && warps_per_block <= warp_threads, "whole warps");

// A cell's old temperature, and the sum of its neighbours left and right.
struct Sides {
    double centre, sides;
};

__device__ Sides load_sides(const double* cell) { return {cell[0], cell[-1] + cell[1]}; }

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

// Updates up to ROWS cells, one below the other, and returns their largest change. current and next point to the first.
__device__ double update_cells(const double* current, double* next, const double* conductivity, int cells, int j,
                               int columns) {
    double largest = 0;
    const std::size_t pitch = columns + 2;
    Sides above = load_sides(current - pitch), here = load_sides(current), coming[AHEAD];
    double c[AHEAD];
    const auto load = [&](int k) {  // cell k's conductivity and the row below it; unrolled, these are registers
        const int row = min(k, cells - 1);
        coming[k % AHEAD] = load_sides(current + (row + 1) * pitch);
        c[k % AHEAD] = conductivity[std::size_t{1} * row * columns];
    };
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) load(k);
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        const Sides below = coming[k % AHEAD];
        const double weight = 1 - c[k % AHEAD];
        if (k + AHEAD < ROWS) load(k + AHEAD);
        const double direct = above.centre + below.centre + here.sides, diagonal = above.sides + below.sides;
        const double flow = weight * (direct_weight * direct + diagonal_weight * diagonal - here.centre);
        if (k < cells) {
            const double value = here.centre + flow, change = std::fabs(value - here.centre);
            double* const cell = next + k * pitch;
            cell[0] = value;
            if (j == 0) cell[columns] = value;
            if (j == columns - 1) cell[-columns] = value;
            largest = change > largest ? change : largest;
        }
        above = here;
        here = below;
    }
    return largest;
}

// Does nothing if *ended is not 0.
__global__ void __launch_bounds__(BLOCK)
    iterate_kernel(const double* current, double* next, const double* conductivity, int rows, int columns,
                   const unsigned long long* ended, double* changes, int iteration) {
    if (*ended) return;                                // the same for all threads of all blocks
    const int across = (columns + BLOCK - 1) / BLOCK;  // blocks next to each other
    const int j = blockIdx.x % across * BLOCK + threadIdx.x, top = blockIdx.x / across * ROWS;
    const std::size_t first = (top + std::size_t{1}) * (columns + 2) + j + 1;
    double largest = 0;
    if (j < columns)
        largest = update_cells(current + first, next + first, conductivity + std::size_t{1} * top * columns + j,
                               min(ROWS, rows - top), j, columns);
    keep_block_maximum(largest, changes + iteration);
}

__global__ void test_kernel(const double* change, double threshold, unsigned long long* ended) {
    if (*change < threshold) *ended = 1;
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return (max_iterations + 1) * sizeof(double);  // the largest change of every iteration, and the flag
}

constexpr std::size_t batch = 64;  // iterations that are launched before the host reads their changes

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    auto* ended = reinterpret_cast<unsigned long long*>(changes + max_iterations);
    CUDA_CHECK(cudaMemset(changes, 0, (max_iterations + 1) * sizeof(double)));
    const std::size_t across = (columns + BLOCK - 1) / BLOCK, down = (rows + ROWS - 1) / ROWS;
    const dim3 grid(static_cast<unsigned>(across * down));
    double* const fields[] = {current, next};
    std::vector<double> seen;
    for (std::size_t begin = 0; begin < max_iterations; begin += batch) {
        const std::size_t end = std::min(begin + batch, max_iterations);
        for (std::size_t i = begin; i < end; ++i) {
            iterate_kernel<<<grid, BLOCK>>>(fields[i % 2], fields[(i + 1) % 2], conductivity, static_cast<int>(rows),
                                            static_cast<int>(columns), ended, changes, static_cast<int>(i));
            CUDA_CHECK(cudaGetLastError());
            test_kernel<<<1, 1>>>(changes + i, threshold, ended);
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
