// There is no matrix of changes, so only two copies of the field need memory: their difference is each cell's change.
// The grid has a fixed number of blocks for each multiprocessor. Each block compares its share of the cells, finds its
// largest change in shared memory, and a second launch does the same with the blocks' results.

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

// Stores the largest of the block's values in maxima[blockIdx.x].
__device__ void store_block_maximum(double value, double* maxima) {
    //@ begin
    __shared__ double largest[REDUCE_BLOCK];
    largest[threadIdx.x] = value;
    __syncthreads();  // until every value is there
    for (unsigned half = REDUCE_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = std::fmax(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();  // outside the if: every thread of the block has to get here
    }
    if (threadIdx.x == 0) maxima[blockIdx.x] = largest[0];
    //@ starter
    //@ // TODO: an array of REDUCE_BLOCK doubles in __shared__ memory, the tree of stage 01 in it, and thread 0 writes
    //@ // the result.
    //@ end
}

// The fields differ only in cells and mirror columns, and a mirror repeats a cell, so all elements may be compared.
__global__ void compare_kernel(const double* current, const double* next, std::size_t count, double* maxima) {
    double largest = 0;
    //@ begin
    for (std::size_t k = std::size_t{blockIdx.x} * REDUCE_BLOCK + threadIdx.x; k < count; k += gridDim.x * REDUCE_BLOCK)
        largest = std::fmax(largest, std::fabs(next[k] - current[k]));
    //@ starter
    //@ // TODO: this thread's share of the `count` elements of both fields: begin at its number in the grid; advance by
    //@ // the number of threads in the grid. largest is the largest |next - current| of them.
    //@ end
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
