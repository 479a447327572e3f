// Blocks are 4 threads wide and 64 high, so a warp reads short pieces of 8 rows.

#include <algorithm>
#include <cmath>
#include <utility>

#include "labs/heat_dissipation/lab.h"

#ifndef BLOCK_X
#define BLOCK_X 4
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 64
#endif
constexpr unsigned line_threads = 256;  // per block of the kernels that mirror, or reduce a row or column

__global__ void update_kernel(const double* current, double* next, const double* conductivity, double* changes,
                              std::size_t rows, std::size_t columns) {
    const std::size_t j = std::size_t{blockIdx.x} * BLOCK_X + threadIdx.x;
    if (j >= columns) return;
    const std::size_t pitch = columns + 2;
    for (std::size_t i = std::size_t{blockIdx.y} * BLOCK_Y + threadIdx.y; i < rows; i += gridDim.y * BLOCK_Y) {
        const double* here = current + (i + 1) * pitch + j + 1;
        const double* above = here - pitch;
        const double* below = here + pitch;
        const double c = conductivity[i * columns + j];
        const double direct = above[0] + here[-1] + here[1] + below[0];
        const double diagonal = above[-1] + above[1] + below[-1] + below[1];
        const double value = c * here[0] + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
        next[(i + 1) * pitch + j + 1] = value;
        changes[i * columns + j] = std::fabs(value - here[0]);
    }
}

// Column 0 repeats the last column of cells, column columns + 1 the first one.
__global__ void mirror_kernel(double* field, std::size_t rows, std::size_t columns) {
    const std::size_t i = std::size_t{blockIdx.x} * line_threads + threadIdx.x;
    if (i >= rows) return;
    double* row = field + (i + 1) * (columns + 2);
    row[0] = row[columns];
    row[columns + 1] = row[1];
}

// Moves the largest of the `count` values values[0], values[stride], … to values[0]: one block, in global memory.
__device__ void reduce_line(double* values, std::size_t count, std::size_t stride) {
    const std::size_t t = threadIdx.x;
    if (t < count) {
        double largest = values[t * stride];
        for (std::size_t k = t + line_threads; k < count; k += line_threads)
            largest = std::fmax(largest, values[k * stride]);
        values[t * stride] = largest;
    }
    for (std::size_t half = line_threads / 2; half > 0; half /= 2) {
        __syncthreads();  // outside the if: every thread of the block has to get here
        if (t < half && t + half < count)
            values[t * stride] = std::fmax(values[t * stride], values[(t + half) * stride]);
    }
}

// First phase: a block for each row. Second phase: one block for the first column, which has the rows' maxima.
__global__ void reduce_rows_kernel(double* changes, std::size_t columns) {
    reduce_line(changes + blockIdx.x * columns, columns, 1);
}
__global__ void reduce_column_kernel(double* changes, std::size_t rows, std::size_t columns) {
    reduce_line(changes, rows, columns);
}

double find_largest_change(double* changes, std::size_t rows, std::size_t columns) {
    reduce_rows_kernel<<<static_cast<unsigned>(rows), line_threads>>>(changes, columns);
    CUDA_CHECK(cudaGetLastError());
    reduce_column_kernel<<<1, line_threads>>>(changes, rows, columns);
    CUDA_CHECK(cudaGetLastError());
    double largest;
    CUDA_CHECK(cudaMemcpy(&largest, changes, sizeof largest, cudaMemcpyDeviceToHost));
    return largest;
}

std::size_t heat_dissipation_scratch_bytes(std::size_t rows, std::size_t columns, std::size_t /*max_iterations*/) {
    return rows * columns * sizeof(double);  // every cell's change
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid(static_cast<unsigned>((columns + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>(std::min<std::size_t>((rows + BLOCK_Y - 1) / BLOCK_Y, 65535)));
    const auto line_blocks = static_cast<unsigned>((rows + line_threads - 1) / line_threads);
    HeatState state{current, 0, 0};
    while (state.iterations < max_iterations) {
        update_kernel<<<grid, block>>>(current, next, conductivity, changes, rows, columns);
        CUDA_CHECK(cudaGetLastError());
        mirror_kernel<<<line_blocks, line_threads>>>(next, rows, columns);
        CUDA_CHECK(cudaGetLastError());
        state = {next, state.iterations + 1, find_largest_change(changes, rows, columns)};
        if (state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
