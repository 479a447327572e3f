// The pass in which the iterations end is not repeated, so the field contains all steps of the pass.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "labs/heat_dissipation/lab.h"

#ifndef TILE_X
#define TILE_X 32
#endif
#ifndef TILE_Y
#define TILE_Y 32
#endif
#ifndef STEPS  // iterations per pass
#define STEPS 4
#endif
constexpr unsigned threads_x = 32, threads_y = 8, warp_threads = 32, warps_per_block = threads_x * threads_y / 32;
constexpr unsigned width = TILE_X + 2 * STEPS, height = TILE_Y + 2 * STEPS;  // of the tile with its surroundings
constexpr unsigned shared_bytes = 2 * width * height * sizeof(double);

// Where the block's surroundings begin in the field.
struct Origin {
    long long row, column;  // of r = q = 0; cells are numbered from 0, the halo rows are -1 and rows
};

__device__ long long wrap(long long column, long long columns) {
    const long long rest = column % columns;
    return rest < 0 ? rest + columns : rest;
}

__device__ double warp_maximum(double value) {
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2)
        value = std::fmax(value, __shfl_down_sync(0xffffffffu, value, distance));
    return value;
}

__device__ void keep_block_maximum(double value, double* maximum) {
    __shared__ double largest[warps_per_block];
    const unsigned thread = threadIdx.y * threads_x + threadIdx.x, lane = thread % warp_threads;
    value = warp_maximum(value);
    __syncthreads();  // the previous iteration may still read largest
    if (lane == 0) largest[thread / warp_threads] = value;
    __syncthreads();
    if (thread >= warp_threads) return;
    value = warp_maximum(lane < warps_per_block ? largest[lane] : 0);
    if (lane == 0)
        atomicMax(reinterpret_cast<unsigned long long*>(maximum),
                  static_cast<unsigned long long>(__double_as_longlong(value)));
}

// Fills old with the block's surroundings, and fresh as well, because no iteration writes the halo rows.
__device__ void load_surroundings(const double* current, Origin origin, long long rows, long long columns, double* old,
                                  double* fresh) {
    for (unsigned r = threadIdx.y; r < height; r += threads_y) {
        const long long i = origin.row + r;
        if (i < -1 || i > rows) continue;  // beyond the halo rows
        for (unsigned q = threadIdx.x; q < width; q += threads_x) {
            const long long j = wrap(origin.column + q, columns);
            old[r * width + q] = fresh[r * width + q] = current[(i + 1) * (columns + 2) + j + 1];
        }
    }
}

// Computes iteration `step` of this pass (from 1) for cells that are still right; returns their largest change.
__device__ double iterate(const double* old, double* fresh, const double* conductivity, Origin origin, long long rows,
                          long long columns, unsigned step) {
    double largest = 0;
    for (unsigned r = step + threadIdx.y; r < height - step; r += threads_y) {
        const long long i = origin.row + r;
        if (i < 0 || i >= rows) continue;  // halo rows stay
        for (unsigned q = step + threadIdx.x; q < width - step; q += threads_x) {
            const long long j = wrap(origin.column + q, columns);
            const double* here = old + r * width + q;
            const double* above = here - width;
            const double* below = here + width;
            const double c = conductivity[i * columns + j];
            const double direct = above[0] + here[-1] + here[1] + below[0];
            const double diagonal = above[-1] + above[1] + below[-1] + below[1];
            const double value = c * here[0] + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
            fresh[r * width + q] = value;
            const bool own = r >= STEPS && r < STEPS + TILE_Y && q >= STEPS && q < STEPS + TILE_X;
            if (own && origin.column + q < columns) largest = std::fmax(largest, std::fabs(value - here[0]));
        }
    }
    return largest;
}

__device__ void store_tile(const double* from, double* next, Origin origin, long long rows, long long columns) {
    for (unsigned r = STEPS + threadIdx.y; r < STEPS + TILE_Y && origin.row + r < rows; r += threads_y)
        for (unsigned q = STEPS + threadIdx.x; q < STEPS + TILE_X && origin.column + q < columns; q += threads_x) {
            const long long j = origin.column + q;
            double* row = next + (origin.row + r + 1) * (columns + 2);
            row[j + 1] = from[r * width + q];
            if (j == 0) row[columns + 1] = from[r * width + q];
            if (j == columns - 1) row[0] = from[r * width + q];
        }
}

// changes: one value for each iteration of this pass, initially 0; those of the previous pass are in front of it.
__global__ void __launch_bounds__(threads_x* threads_y)
    pass_kernel(const double* current, double* next, const double* conductivity, long long rows, long long columns,
                double threshold, double* changes, unsigned steps, unsigned steps_before) {
    for (unsigned k = 1; k <= steps_before; ++k)
        if (*(changes - k) < threshold) return;  // ended before; the same for all threads of all blocks
    extern __shared__ double surroundings[];
    double *old = surroundings, *fresh = surroundings + width * height;
    const long long tiles_y = (rows + TILE_Y - 1) / TILE_Y;
    for (long long tile = blockIdx.y; tile < tiles_y; tile += gridDim.y) {
        const Origin origin{tile * TILE_Y - STEPS, static_cast<long long>(blockIdx.x) * TILE_X - STEPS};
        __syncthreads();  // until the previous tile is stored
        load_surroundings(current, origin, rows, columns, old, fresh);
        for (unsigned step = 1; step <= steps; ++step) {
            __syncthreads();
            keep_block_maximum(iterate(old, fresh, conductivity, origin, rows, columns, step), changes + step - 1);
            __syncthreads();
            double* const swapped = old;
            old = fresh;
            fresh = swapped;
        }
        store_tile(old, next, origin, rows, columns);
    }
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return (max_iterations + STEPS) * sizeof(double);  // every iteration's largest change, and those of a repeated pass
}

// Data that all passes of a call share.
struct Passes {
    double* fields[2];
    const double* conductivity;
    std::size_t rows, columns;
    double threshold;
    double* changes;

    void launch(std::size_t pass, unsigned steps, double* pass_changes, unsigned steps_before) const {
        const dim3 block(threads_x, threads_y);
        const dim3 grid(static_cast<unsigned>((columns + TILE_X - 1) / TILE_X),
                        static_cast<unsigned>(std::min<std::size_t>((rows + TILE_Y - 1) / TILE_Y, 65535)));
        pass_kernel<<<grid, block, shared_bytes>>>(fields[pass % 2], fields[(pass + 1) % 2], conductivity,
                                                   static_cast<long long>(rows), static_cast<long long>(columns),
                                                   threshold, pass_changes, steps, steps_before);
        CUDA_CHECK(cudaGetLastError());
    }
};

constexpr std::size_t batch = 64;  // passes that are launched before the host checks

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, (max_iterations + STEPS) * sizeof(double)));
    CUDA_CHECK(cudaFuncSetAttribute(pass_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    const Passes passes{{current, next}, conductivity, rows, columns, threshold, changes};
    const std::size_t count = (max_iterations + STEPS - 1) / STEPS;
    std::vector<double> seen;
    for (std::size_t begin = 0; begin < count; begin += batch) {
        const std::size_t end = std::min(begin + batch, count), first = begin * STEPS;
        for (std::size_t pass = begin; pass < end; ++pass)
            passes.launch(pass, static_cast<unsigned>(std::min<std::size_t>(STEPS, max_iterations - pass * STEPS)),
                          changes + pass * STEPS, pass ? STEPS : 0);
        seen.resize(std::min(end * STEPS, max_iterations) - first);
        CUDA_CHECK(cudaMemcpy(seen.data(), changes + first, seen.size() * sizeof(double), cudaMemcpyDeviceToHost));
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const std::size_t iterations = first + k + 1;
            if (seen[k] >= threshold && iterations != max_iterations) continue;
            const std::size_t pass = (iterations - 1) / STEPS;
            const auto steps = static_cast<unsigned>(iterations - pass * STEPS);
            const bool complete = steps == STEPS || iterations == max_iterations;
            (void)complete;
            return {passes.fields[(pass + 1) % 2], iterations, seen[k]};
        }
    }
    return {current, 0, 0};
}
