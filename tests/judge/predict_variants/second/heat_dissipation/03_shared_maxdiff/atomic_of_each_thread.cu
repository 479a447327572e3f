// There is no tree: every thread of the comparison adds its largest change to one word by an atomic maximum.

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
#ifndef REDUCE_BLOCK
#define REDUCE_BLOCK 256
#endif

__global__ void update_kernel(const double* current, double* next, const double* conductivity, std::size_t rows,
                              std::size_t columns) {
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
        double* row = next + (i + 1) * pitch;
        row[j + 1] = value;
        if (j == 0) row[columns + 1] = value;
        if (j == columns - 1) row[0] = value;
    }
}

// The fields differ only in cells and mirror columns, and a mirror repeats a cell, so all elements may be compared.
__global__ void compare_kernel(const double* current, const double* next, std::size_t count, double* maximum) {
    double largest = 0;
    for (std::size_t k = std::size_t{blockIdx.x} * REDUCE_BLOCK + threadIdx.x; k < count; k += gridDim.x * REDUCE_BLOCK)
        largest = std::fmax(largest, std::fabs(next[k] - current[k]));
    // The bits of doubles that are not negative have the same order as the doubles.
    atomicMax(reinterpret_cast<unsigned long long*>(maximum),
              static_cast<unsigned long long>(__double_as_longlong(largest)));
}

constexpr std::size_t blocks_per_multiprocessor = 8;

unsigned count_reduction_blocks(std::size_t count) {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t filling = static_cast<std::size_t>(multiprocessors) * blocks_per_multiprocessor;
    return static_cast<unsigned>(std::min({(count + REDUCE_BLOCK - 1) / REDUCE_BLOCK, filling}));
}

double find_largest_change(const double* current, const double* next, std::size_t count, double* maximum,
                           unsigned blocks) {
    CUDA_CHECK(cudaMemsetAsync(maximum, 0, sizeof(double)));
    compare_kernel<<<blocks, REDUCE_BLOCK>>>(current, next, count, maximum);
    CUDA_CHECK(cudaGetLastError());
    double largest;
    CUDA_CHECK(cudaMemcpy(&largest, maximum, sizeof largest, cudaMemcpyDeviceToHost));
    return largest;
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/,
                                           std::size_t /*max_iterations*/) {
    return sizeof(double);
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* maximum = static_cast<double*>(scratch);
    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid(static_cast<unsigned>((columns + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>(std::min<std::size_t>((rows + BLOCK_Y - 1) / BLOCK_Y, 65535)));
    const std::size_t count = (rows + 2) * (columns + 2);
    const unsigned reduction_blocks = count_reduction_blocks(count);
    HeatState state{current, 0, 0};
    while (state.iterations < max_iterations) {
        update_kernel<<<grid, block>>>(current, next, conductivity, rows, columns);
        CUDA_CHECK(cudaGetLastError());
        state = {next, state.iterations + 1, find_largest_change(current, next, count, maximum, reduction_blocks)};
        if (state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
