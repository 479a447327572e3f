#include <utility>
#include "labs/heat_dissipation/lab.h"

#define T 16                 // cells of a block's own, in both directions
#define IN (T + 4)           // with a halo of two
#define MID (T + 2)          // after the first step

__device__ double step(double centre, double direct, double diagonal, double c) {
    return c*centre + (1 - c)*(direct_weight*direct + diagonal_weight*diagonal);
}

__device__ void keep(unsigned long long* change, double d) {
    atomicMax(change, (unsigned long long)__double_as_longlong(d));
}

// changes[0] and changes[1]: of the first and the second step. steps is 1 or 2.
__global__ void pass(const double* in, double* out, const double* cond, int rows, int cols, int steps, unsigned long long* changes) {
    __shared__ double a[IN][IN];
    __shared__ double b[MID][MID];
    const int across = (cols + T - 1)/T;
    const int top = (int)(blockIdx.x/across)*T, left = (int)(blockIdx.x%across)*T;
    const size_t w = cols + 2;

    // a[y][x] is cell (top - 2 + y, left - 2 + x); rows -1 and rows are the halo rows, columns wrap around
    for(int k = threadIdx.x; k < IN*IN; k += blockDim.x) {
        const int i = top - 2 + k/IN, j = left - 2 + k%IN;
        if(i >= -1 && i <= rows) {
            const int column = ((j % cols) + cols) % cols;
            a[k/IN][k%IN] = in[(size_t)(i + 1)*w + column + 1];
        }
    }
    __syncthreads();

    // b[y][x] is cell (top - 1 + y, left - 1 + x) after the first step; halo rows stay
    for(int k = threadIdx.x; k < MID*MID; k += blockDim.x) {
        const int y = k/MID, x = k%MID, i = top - 1 + y, j = left - 1 + x;
        if(i > rows) continue;
        const double old = a[y + 1][x + 1];
        if(i == -1 || i == rows) {
            b[y][x] = old;
        } else {
            const int column = ((j % cols) + cols) % cols;
            b[y][x] = step(old, a[y][x + 1] + a[y + 2][x + 1] + a[y + 1][x] + a[y + 1][x + 2],
                           a[y][x] + a[y][x + 2] + a[y + 2][x] + a[y + 2][x + 2], cond[(size_t)i*cols + column]);
            if(x >= 1 && x <= T && y >= 1 && y <= T && j < cols) {
                keep(&changes[0], fabs(b[y][x] - old));
            }
        }
    }
    __syncthreads();

    for(int k = threadIdx.x; k < T*T; k += blockDim.x) {
        const int y = k/T + 1, x = k%T + 1, i = top + y - 1, j = left + x - 1;
        if(i < rows && j < cols) {
            double value = b[y][x];
            if(steps == 2) {
                value = step(b[y][x], b[y - 1][x] + b[y + 1][x] + b[y][x - 1] + b[y][x + 1],
                             b[y - 1][x - 1] + b[y - 1][x + 1] + b[y + 1][x - 1] + b[y + 1][x + 1], cond[(size_t)i*cols + j]);
                keep(&changes[1], fabs(value - b[y][x]));
            }
            double* row = out + (size_t)(i + 1)*w;
            row[j + 1] = value;
            if(j == 0) row[cols + 1] = value;
            if(j == cols - 1) row[0] = value;
        }
    }
}

std::size_t heat_dissipation_scratch_bytes(std::size_t, std::size_t, std::size_t) {
    return 2*sizeof(unsigned long long);
}

HeatState heat_dissipation(double* current, double* next, const double* cond, std::size_t rows, std::size_t cols,
                           double threshold, std::size_t max_iterations, void* scratch) {
    unsigned long long* changes = (unsigned long long*)scratch;
    const unsigned blocks = (unsigned)(((cols + T - 1)/T)*((rows + T - 1)/T));
    HeatState state = {current, 0, 0};
    double seen[2] = {0, 0};
    const auto run = [&](int steps) {
        CUDA_CHECK(cudaMemset(changes, 0, 2*sizeof(*changes)));
        pass<<<blocks, 256>>>(current, next, cond, (int)rows, (int)cols, steps, changes);
        CUDA_CHECK(cudaGetLastError());
    };
    while(state.iterations < max_iterations) {
        const int steps = max_iterations - state.iterations >= 2 ? 2 : 1;
        run(steps);
        CUDA_CHECK(cudaMemcpy(seen, changes, steps*sizeof(double), cudaMemcpyDeviceToHost));
        if(steps == 2 && seen[0] < threshold) {
            run(1);  // it ended after the first of the two steps
            return {next, state.iterations + 1, seen[0]};
        }
        state = {next, state.iterations + steps, seen[steps - 1]};
        if(state.largest_change < threshold) break;
        std::swap(current, next);
    }
    return state;
}
