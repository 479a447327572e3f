// A thread computes four neighbouring cells of a row, so a warp's threads are 32 bytes apart.

#include <algorithm>
#include <cmath>
#include <utility>

#include "labs/heat_dissipation/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
constexpr int cells = 4;  // per thread, side by side
constexpr int warp_threads = 32, warps_per_block = BLOCK_X * BLOCK_Y / warp_threads;
static_assert(BLOCK_X * BLOCK_Y % warp_threads == 0 && warps_per_block <= warp_threads, "whole warps");

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
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x, lane = thread % warp_threads;
    value = warp_maximum(value);
    if (lane == 0) largest[thread / warp_threads] = value;
    __syncthreads();
    if (thread >= warp_threads) return;
    value = warp_maximum(lane < warps_per_block ? largest[lane] : 0);
    if (lane == 0 && value > *static_cast<volatile double*>(maximum))
        atomicMax(reinterpret_cast<unsigned long long*>(maximum),
                  static_cast<unsigned long long>(__double_as_longlong(value)));
}

// maximum is initially 0.
__global__ void update_kernel(const double* current, double* next, const double* conductivity, std::size_t rows,
                              std::size_t columns, double* maximum) {
    const std::size_t first = (std::size_t{blockIdx.x} * BLOCK_X + threadIdx.x) * cells;
    const std::size_t pitch = columns + 2;
    double largest = 0;
    // A thread past the last column has no cell, but must not return: its warp and its block wait for it.
    const std::size_t end = first < columns ? rows : 0;
    for (std::size_t i = std::size_t{blockIdx.y} * BLOCK_Y + threadIdx.y; i < end; i += gridDim.y * BLOCK_Y) {
        for (std::size_t j = first; j < first + cells && j < columns; ++j) {
            const double* here = current + (i + 1) * pitch + j + 1;
            const double* above = here - pitch;
            const double* below = here + pitch;
            const double c = conductivity[i * columns + j], old = here[0];
            const double direct = above[0] + here[-1] + here[1] + below[0];
            const double diagonal = above[-1] + above[1] + below[-1] + below[1];
            const double value = c * old + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
            double* row = next + (i + 1) * pitch;
            row[j + 1] = value;
            if (j == 0) row[columns + 1] = value;
            if (j == columns - 1) row[0] = value;
            largest = std::fmax(largest, std::fabs(value - old));
        }
    }
    keep_block_maximum(largest, maximum);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return std::max<std::size_t>(max_iterations, 1) * sizeof(double);  // the largest change of every iteration
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, max_iterations * sizeof(double)));
    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid(static_cast<unsigned>((columns + BLOCK_X * cells - 1) / (BLOCK_X * cells)),
                    static_cast<unsigned>(std::min<std::size_t>((rows + BLOCK_Y - 1) / BLOCK_Y, 65535)));
    HeatState state{current, 0, 0};
    while (state.iterations < max_iterations) {
        double* const change = changes + state.iterations;
        update_kernel<<<grid, block>>>(current, next, conductivity, rows, columns, change);
        CUDA_CHECK(cudaGetLastError());
        double largest;
        CUDA_CHECK(cudaMemcpy(&largest, change, sizeof largest, cudaMemcpyDeviceToHost));
        state = {next, state.iterations + 1, largest};
        if (state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
