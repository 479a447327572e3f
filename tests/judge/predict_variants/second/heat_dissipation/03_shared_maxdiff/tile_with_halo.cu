// A block first copies its cells and those around them to shared memory, and then computes from there.

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
static_assert((REDUCE_BLOCK & (REDUCE_BLOCK - 1)) == 0, "the tree needs a power of two");

__global__ void update_kernel(const double* current, double* next, const double* conductivity, std::size_t rows,
                              std::size_t columns) {
    __shared__ double tile[BLOCK_Y + 2][BLOCK_X + 2];
    const std::size_t left = std::size_t{blockIdx.x} * BLOCK_X, j = left + threadIdx.x;
    const std::size_t pitch = columns + 2;
    for (std::size_t top = std::size_t{blockIdx.y} * BLOCK_Y; top < rows; top += gridDim.y * BLOCK_Y) {
        const unsigned thread = threadIdx.y * BLOCK_X + threadIdx.x;
        for (unsigned k = thread; k < (BLOCK_Y + 2) * (BLOCK_X + 2); k += BLOCK_X * BLOCK_Y) {
            const unsigned y = k / (BLOCK_X + 2), x = k % (BLOCK_X + 2);
            if (top + y < rows + 2 && left + x < pitch) tile[y][x] = current[(top + y) * pitch + left + x];
        }
        __syncthreads();
        const std::size_t i = top + threadIdx.y;
        if (i < rows && j < columns) {
            const double* above = &tile[threadIdx.y][threadIdx.x + 1];
            const double* here = &tile[threadIdx.y + 1][threadIdx.x + 1];
            const double* below = &tile[threadIdx.y + 2][threadIdx.x + 1];
            const double c = conductivity[i * columns + j];
            const double direct = above[0] + here[-1] + here[1] + below[0];
            const double diagonal = above[-1] + above[1] + below[-1] + below[1];
            const double value = c * here[0] + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
            double* row = next + (i + 1) * pitch;
            row[j + 1] = value;
            if (j == 0) row[columns + 1] = value;
            if (j == columns - 1) row[0] = value;
        }
        __syncthreads();  // before the tile is filled again
    }
}

// Stores the largest of the block's values in maxima[blockIdx.x].
__device__ void store_block_maximum(double value, double* maxima) {
    __shared__ double largest[REDUCE_BLOCK];
    largest[threadIdx.x] = value;
    __syncthreads();  // until every value is there
    for (unsigned half = REDUCE_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = std::fmax(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();  // outside the if: every thread of the block has to get here
    }
    if (threadIdx.x == 0) maxima[blockIdx.x] = largest[0];
}

// The fields differ only in cells and mirror columns, and a mirror repeats a cell, so all elements may be compared.
__global__ void compare_kernel(const double* current, const double* next, std::size_t count, double* maxima) {
    double largest = 0;
    for (std::size_t k = std::size_t{blockIdx.x} * REDUCE_BLOCK + threadIdx.x; k < count; k += gridDim.x * REDUCE_BLOCK)
        largest = std::fmax(largest, std::fabs(next[k] - current[k]));
    store_block_maximum(largest, maxima);
}

__global__ void maximum_kernel(const double* values, std::size_t count, double* maximum) {
    double largest = 0;
    for (std::size_t k = threadIdx.x; k < count; k += REDUCE_BLOCK) largest = std::fmax(largest, values[k]);
    store_block_maximum(largest, maximum);
}

constexpr std::size_t blocks_per_multiprocessor = 8;
constexpr std::size_t most_blocks = 8192;  // room for their maxima

unsigned count_reduction_blocks(std::size_t count) {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const std::size_t filling = static_cast<std::size_t>(multiprocessors) * blocks_per_multiprocessor;
    return static_cast<unsigned>(std::min({(count + REDUCE_BLOCK - 1) / REDUCE_BLOCK, filling, most_blocks}));
}

// maxima: room for one value per block, and one more for the largest of all.
double find_largest_change(const double* current, const double* next, std::size_t count, double* maxima,
                           unsigned blocks) {
    compare_kernel<<<blocks, REDUCE_BLOCK>>>(current, next, count, maxima + 1);
    CUDA_CHECK(cudaGetLastError());
    maximum_kernel<<<1, REDUCE_BLOCK>>>(maxima + 1, blocks, maxima);
    CUDA_CHECK(cudaGetLastError());
    double largest;
    CUDA_CHECK(cudaMemcpy(&largest, maxima, sizeof largest, cudaMemcpyDeviceToHost));
    return largest;
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/,
                                           std::size_t /*max_iterations*/) {
    return (1 + most_blocks) * sizeof(double);
}

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* maxima = static_cast<double*>(scratch);
    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid(static_cast<unsigned>((columns + BLOCK_X - 1) / BLOCK_X),
                    static_cast<unsigned>(std::min<std::size_t>((rows + BLOCK_Y - 1) / BLOCK_Y, 65535)));
    const std::size_t count = (rows + 2) * (columns + 2);
    const unsigned reduction_blocks = count_reduction_blocks(count);
    HeatState state{current, 0, 0};
    while (state.iterations < max_iterations) {
        update_kernel<<<grid, block>>>(current, next, conductivity, rows, columns);
        CUDA_CHECK(cudaGetLastError());
        state = {next, state.iterations + 1, find_largest_change(current, next, count, maxima, reduction_blocks)};
        if (state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
