// Each cell reads all nine temperatures from the tile, for which the first index is the column: bank conflicts.

#include <algorithm>
#include <cmath>
#include <vector>

#include "labs/heat_dissipation/lab.h"

#ifndef TILE_X  // columns of the tile, and threads for each of its rows
#define TILE_X 64
#endif
#ifndef TILE_Y  // rows of the tile
#define TILE_Y 32
#endif
#ifndef ROWS  // rows that a thread computes, one after the other
#define ROWS 4
#endif
constexpr unsigned all_lanes = 0xffffffffu;
constexpr int warp_threads = 32, steps_of_pass = 2, halo = steps_of_pass;
constexpr int own_x = TILE_X - 2 * halo, own_y = TILE_Y - 2 * halo, groups = TILE_Y / ROWS;
static_assert(TILE_X % warp_threads == 0 && TILE_Y % ROWS == 0 && TILE_X * groups <= 1024, "whole warps and groups");

// The ends of a row lack a neighbour. They take another cell instead: their values are wrong, and no own cell needs
// them.
__device__ int column_before(int x) { return max(x - 1, 0); }
__device__ int column_after(int x) { return min(x + 1, TILE_X - 1); }

// Doubles that are not negative have the same order as their bits. Few warps find a new maximum, so most only read.
__device__ void keep_warp_maximum(double value, double* maximum) {
    for (int distance = warp_threads / 2; distance > 0; distance /= 2)
        value = std::fmax(value, __shfl_down_sync(all_lanes, value, distance));
    if (threadIdx.x % warp_threads == 0 && value > *static_cast<volatile double*>(maximum))
        atomicMax(reinterpret_cast<unsigned long long*>(maximum),
                  static_cast<unsigned long long>(__double_as_longlong(value)));
}

__device__ int wrap(int column, int columns) {
    const int rest = column % columns;
    return rest < 0 ? rest + columns : rest;
}

struct Field {
    const double* current;
    double* next;
    const double* conductivity;
    int rows, columns;
};

// ROWS cells of the tile, one below the other. A weight is 1 - c, or 0 in halo rows, which therefore never change.
struct Cells {
    double values[ROWS], weights[ROWS];
};

__device__ Cells load_cells(const Field& field, int top, int column) {
    Cells cells;
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        const int i = top + k, row = min(max(i, -1), field.rows);  // rows past the halo are not needed
        cells.values[k] = field.current[(row + std::size_t{1}) * (field.columns + 2) + column + 1];
        const bool fixed = i < 0 || i >= field.rows;
        cells.weights[k] = fixed ? 0 : 1 - field.conductivity[std::size_t{1} * i * field.columns + column];
    }
    return cells;
}

// One iteration of a thread's cells; returns the largest change of the block's own ones, own_begin … own_end - 1.
__device__ double update_cells(Cells& cells, double (*tile)[TILE_Y + 2], int own_begin, int own_end) {
    const int x = threadIdx.x, y = threadIdx.y * ROWS;  // of the first cell in the tile
    double largest = 0;
#pragma unroll
    for (int k = 0; k < ROWS; ++k) tile[x][y + k] = cells.values[k];
    __syncthreads();                                         // until the tile is complete
    volatile double* const before = tile[column_before(x)];  // volatile: no value stays in a register
    volatile double* const here = tile[x];
    volatile double* const after = tile[column_after(x)];
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        const int i = y + k, up = max(i - 1, 0), down = min(i + 1, TILE_Y - 1);
        const double direct = here[up] + here[down] + before[i] + after[i], old = here[i];
        const double diagonal = before[up] + after[up] + before[down] + after[down];
        const double flow = cells.weights[k] * (direct_weight * direct + diagonal_weight * diagonal - old);
        cells.values[k] = old + flow;
        const double change = std::fabs(cells.values[k] - old);
        if (k >= own_begin && k < own_end) largest = change > largest ? change : largest;
    }
    __syncthreads();  // until every thread has read its neighbours: the next iteration writes to the tile
    return largest;
}

// changes: one value for each iteration of this pass, initially 0; those of the previous pass are in front of it.
__global__ void __launch_bounds__(TILE_X* groups)
    pass_kernel(Field field, int steps, double threshold, double* changes, int steps_before) {
    for (int k = 1; k <= steps_before; ++k)
        if (*(changes - k) < threshold) return;  // ended before; the same for all threads of all blocks
    __shared__ double tile[TILE_X][TILE_Y + 2];
    const int across = (field.columns + own_x - 1) / own_x;  // blocks next to each other
    const int x = threadIdx.x, y = threadIdx.y * ROWS;
    const int j = blockIdx.x % across * own_x - halo + x, top = blockIdx.x / across * own_y - halo + y;  // first cell
    Cells cells = load_cells(field, top, wrap(j, field.columns));

    const bool own = x >= halo && x < TILE_X - halo && j < field.columns;
    const int own_begin = max(halo - y, 0);
    const int own_end = own ? min(min(ROWS, TILE_Y - halo - y), field.rows - top) : 0;
    const double first = update_cells(cells, tile, own_begin, own_end);
    const double second = steps > 1 ? update_cells(cells, tile, own_begin, own_end) : 0;
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
        if (k < own_begin || k >= own_end) continue;
        double* const cell = field.next + (top + k + std::size_t{1}) * (field.columns + 2) + j + 1;
        cell[0] = cells.values[k];
        if (j == 0) cell[field.columns] = cells.values[k];
        if (j == field.columns - 1) cell[-field.columns] = cells.values[k];
    }
    keep_warp_maximum(first, changes);
    if (steps > 1) keep_warp_maximum(second, changes + 1);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return (max_iterations + steps_of_pass) * sizeof(double);  // every iteration's change, and those of a repeated pass
}

void launch_pass(const Field& field, std::size_t steps, double threshold, double* changes, int steps_before) {
    const int blocks = (field.columns + own_x - 1) / own_x * ((field.rows + own_y - 1) / own_y);
    pass_kernel<<<blocks, dim3(TILE_X, groups)>>>(field, static_cast<int>(steps), threshold, changes, steps_before);
    CUDA_CHECK(cudaGetLastError());
}

constexpr std::size_t batch = 64;  // passes that are launched before the host reads their changes

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, (max_iterations + steps_of_pass) * sizeof(double)));
    double* const fields[] = {current, next};
    const auto launch = [&](std::size_t pass, std::size_t steps, double* pass_changes, int steps_before) {
        const Field field{fields[pass % 2], fields[(pass + 1) % 2], conductivity, static_cast<int>(rows),
                          static_cast<int>(columns)};
        launch_pass(field, steps, threshold, pass_changes, steps_before);
    };
    const std::size_t count = (max_iterations + steps_of_pass - 1) / steps_of_pass;
    std::vector<double> seen;
    for (std::size_t begin = 0; begin < count; begin += batch) {
        const std::size_t end = std::min(begin + batch, count), first = begin * steps_of_pass;
        for (std::size_t pass = begin; pass < end; ++pass)
            launch(pass, std::min<std::size_t>(steps_of_pass, max_iterations - pass * steps_of_pass),
                   changes + pass * steps_of_pass, pass ? steps_of_pass : 0);
        seen.resize(std::min(end * steps_of_pass, max_iterations) - first);
        CUDA_CHECK(cudaMemcpy(seen.data(), changes + first, seen.size() * sizeof(double), cudaMemcpyDeviceToHost));
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const std::size_t iterations = first + k + 1;
            if (seen[k] >= threshold && iterations != max_iterations) continue;
            const std::size_t pass = (iterations - 1) / steps_of_pass;
            const std::size_t steps = iterations - pass * steps_of_pass;
            const bool complete = steps == steps_of_pass || iterations == max_iterations;
            if (!complete) launch(pass, steps, changes + max_iterations, 0);
            return {fields[(pass + 1) % 2], iterations, seen[k]};
        }
    }
    return {current, 0, 0};
}
