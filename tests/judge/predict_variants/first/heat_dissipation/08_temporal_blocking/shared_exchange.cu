// Lanes exchange their neighbours through shared memory and warp barriers instead of shuffles.

#include <algorithm>
#include <cmath>
#include <vector>

#include "labs/heat_dissipation/lab.h"

#ifndef STEPS  // iterations per pass
#define STEPS 4
#endif
#ifndef WARPS  // per block
#define WARPS 2
#endif
#ifndef WAVES  // of warps that follow each other on the device
#define WAVES 3
#endif
constexpr unsigned all_lanes = 0xffffffffu;
constexpr int warp_threads = 32, fewest_rows = 16;

// The lanes at each side of a strip that only provide neighbours, and the columns that the strip computes.
__host__ __device__ constexpr int halo_lanes(int steps) { return (steps + 1) / 2; }
__host__ __device__ constexpr int strip_columns(int steps) { return 2 * (warp_threads - 2 * halo_lanes(steps)); }

// The two columns of a lane.
struct Pair {
    double left, right;
};

// The last two input rows of an iteration: their temperatures, and the sums of the neighbours on the left and on
// the right.
struct Window {
    Pair above, here, sides_above, sides_here;
};

__device__ Pair sum_sides(Pair row) {
    __shared__ double cells[WARPS][2 * warp_threads + 2];
    double* const own = cells[threadIdx.x / warp_threads] + 2 * (threadIdx.x % warp_threads) + 1;
    __syncwarp();  // until all lanes have read the previous row
    own[0] = row.left;
    own[1] = row.right;
    if (threadIdx.x % warp_threads == 0) own[-1] = 0;  // the outermost lanes lack a neighbour
    if (threadIdx.x % warp_threads == warp_threads - 1) own[2] = 0;
    __syncwarp();
    const double left = own[-1], right = own[2];
    return {left + row.right, row.left + right};
}

// weight is 1 - c; so a cell with c = 1 stays exactly as it is.
__device__ double update(double old, double weight, double direct, double diagonal) {
    return std::fma(weight, direct_weight * direct + diagonal_weight * diagonal - old, old);
}

__device__ Pair update_row(const Window& window, Pair below, Pair sides_below, Pair weight) {
    const Window& w = window;
    return {update(w.here.left, weight.left, w.above.left + below.left + w.sides_here.left,
                   w.sides_above.left + sides_below.left),
            update(w.here.right, weight.right, w.above.right + below.right + w.sides_here.right,
                   w.sides_above.right + sides_below.right)};
}

__device__ double largest_of(double largest, Pair fresh, Pair old) {
    const double left = std::fabs(fresh.left - old.left), right = std::fabs(fresh.right - old.right);
    largest = left > largest ? left : largest;  // cheaper than fmax, which handles NaN
    return right > largest ? right : largest;
}

// Doubles that are not negative have the same order as their bits. Few warps find a new maximum, so most only read.
__device__ void keep_warp_maximum(double value, double* maximum) {
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2)
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

// The two columns of this lane.
struct Columns {
    int left, right;           // wrapped
    bool own_left, own_right;  // this lane's own, and not only there for its neighbours

    __device__ Pair load(const double* cells) const { return {cells[left], cells[right]}; }

    __device__ void store(double* cells, Pair value, int columns) const {
        if (own_left) store_one(cells, left, value.left, columns);
        if (own_right) store_one(cells, right, value.right, columns);
    }

    __device__ static void store_one(double* cells, int column, double value, int columns) {
        cells[column] = value;
        if (column == 0) cells[columns] = value;
        if (column == columns - 1) cells[-1] = value;
    }
};

template <int steps>
__device__ Columns columns_of_lane(int strip, int columns) {
    const int lane = threadIdx.x % warp_threads;
    const int left = strip * strip_columns(steps) + 2 * (lane - halo_lanes(steps));  // may lie outside: wraps
    const bool own = lane >= halo_lanes(steps) && lane < warp_threads - halo_lanes(steps);
    return {wrap(left, columns), wrap(left + 1, columns), own && left < columns, own && left + 1 < columns};
}

// changes: one value for each iteration of this pass, initially 0; those of the previous pass are in front of it.
template <int steps>
__global__ void __launch_bounds__(WARPS* warp_threads)
    pass_kernel(Field field, int rows_of_warp, double threshold, double* changes, int steps_before) {
    for (int k = 1; k <= steps_before; ++k)
        if (*(changes - k) < threshold) return;  // ended before; the same for all threads of all blocks
    const int strip = blockIdx.x * WARPS + threadIdx.x / warp_threads;
    if (strip * strip_columns(steps) >= field.columns) return;  // the whole warp
    const Columns columns = columns_of_lane<steps>(strip, field.columns);
    const std::size_t pitch = field.columns + 2;

    // Rows are counted from 0; -1 and field.rows are the halo rows. The warp's own are top … bottom - 1.
    const int top = blockIdx.y * rows_of_warp, bottom = min(top + rows_of_warp, field.rows);
    const int begin = max(-1, top - steps), end = bottom + steps;
    const double* cells = field.current + (begin + 1) * pitch + 1;
    const double* conductivity = field.conductivity + static_cast<std::size_t>(max(0, begin)) * field.columns;
    double* stored = field.next + (top + 1) * pitch + 1;

    Window windows[steps] = {};
    Pair weights[steps + 1] = {};  // of the row that arrives and those before it
    double largest[steps] = {};
    Pair arriving = columns.load(cells), arriving_c = columns.load(conductivity);
#pragma unroll 2
    for (int row = begin; row < end; ++row) {
        Pair value = arriving;
#pragma unroll
        for (int k = steps; k > 0; --k) weights[k] = weights[k - 1];
        weights[0] = {1 - arriving_c.left, 1 - arriving_c.right};
        if (row < field.rows) cells += pitch;  // the next row is requested early, because the load takes long
        if (row >= 0 && row < field.rows - 1) conductivity += field.columns;
        arriving = columns.load(cells);
        arriving_c = columns.load(conductivity);
#pragma unroll
        for (int step = 0; step < steps; ++step) {  // value: row - step, after step iterations
            Window& window = windows[step];
            const int i = row - step - 1;  // the row that can now do its next iteration
            const Pair sides = sum_sides(value);
            const bool fixed = i < 0 || i >= field.rows;
            const Pair fresh = fixed ? window.here : update_row(window, value, sides, weights[step + 1]);
            if (i >= top && i < bottom) largest[step] = largest_of(largest[step], fresh, window.here);
            window = {window.here, value, window.sides_here, sides};
            value = fresh;
        }
        if (row - steps >= top) {
            columns.store(stored, value, field.columns);
            stored += pitch;
        }
    }
#pragma unroll
    for (int step = 0; step < steps; ++step) keep_warp_maximum(columns.own_left ? largest[step] : 0, changes + step);
}

std::size_t heat_dissipation_scratch_bytes(std::size_t /*rows*/, std::size_t /*columns*/, std::size_t max_iterations) {
    return (max_iterations + STEPS) * sizeof(double);  // every iteration's largest change, and those of a repeated pass
}

// Rows for each warp, so that WAVES full waves of warps process the field. With more and shorter bands, more rows are
// computed twice; fewer leave multiprocessors idle at the end.
template <int steps>
int rows_of_warp(int rows, int strips) {
    int device = 0, multiprocessors = 0, blocks = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, pass_kernel<steps>, WARPS * warp_threads, 0));
    const int bands = std::max(1, WAVES * WARPS * multiprocessors * blocks / strips);
    constexpr int most_bands = 65535;
    return std::max({fewest_rows, (rows + bands - 1) / bands, (rows + most_bands - 1) / most_bands});
}

template <int steps>
void launch_pass(const Field& field, double threshold, double* changes, int steps_before) {
    const int strips = (field.columns + strip_columns(steps) - 1) / strip_columns(steps);
    const int rows = rows_of_warp<steps>(field.rows, strips);
    const dim3 grid((strips + WARPS - 1) / WARPS, (field.rows + rows - 1) / rows);
    pass_kernel<steps><<<grid, WARPS * warp_threads>>>(field, rows, threshold, changes, steps_before);
    CUDA_CHECK(cudaGetLastError());
}

// The number of steps is known when a kernel is compiled, so there is one kernel for each.
template <int most = STEPS>
void launch_steps(int steps, const Field& field, double threshold, double* changes, int steps_before) {
    if (steps == most)
        launch_pass<most>(field, threshold, changes, steps_before);
    else if constexpr (most > 1)
        launch_steps<most - 1>(steps, field, threshold, changes, steps_before);
}

constexpr std::size_t batch = 64;  // passes that are launched before the host reads their changes

HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch) {
    auto* changes = static_cast<double*>(scratch);
    CUDA_CHECK(cudaMemset(changes, 0, (max_iterations + STEPS) * sizeof(double)));
    double* const fields[] = {current, next};
    const auto launch = [&](std::size_t pass, std::size_t steps, double* pass_changes, int steps_before) {
        const Field field{fields[pass % 2], fields[(pass + 1) % 2], conductivity, static_cast<int>(rows),
                          static_cast<int>(columns)};
        launch_steps(static_cast<int>(steps), field, threshold, pass_changes, steps_before);
    };
    const std::size_t count = (max_iterations + STEPS - 1) / STEPS;
    std::vector<double> seen;
    for (std::size_t begin = 0; begin < count; begin += batch) {
        const std::size_t end = std::min(begin + batch, count), first = begin * STEPS;
        for (std::size_t pass = begin; pass < end; ++pass)
            launch(pass, std::min<std::size_t>(STEPS, max_iterations - pass * STEPS), changes + pass * STEPS,
                   pass ? STEPS : 0);
        seen.resize(std::min(end * STEPS, max_iterations) - first);
        CUDA_CHECK(cudaMemcpy(seen.data(), changes + first, seen.size() * sizeof(double), cudaMemcpyDeviceToHost));
        for (std::size_t k = 0; k < seen.size(); ++k) {
            const std::size_t iterations = first + k + 1;
            if (seen[k] >= threshold && iterations != max_iterations) continue;
            const std::size_t pass = (iterations - 1) / STEPS;
            const std::size_t steps = iterations - pass * STEPS;
            const bool complete = steps == STEPS || iterations == max_iterations;
            if (!complete) launch(pass, steps, changes + max_iterations, 0);
            return {fields[(pass + 1) % 2], iterations, seen[k]};
        }
    }
    return {current, 0, 0};
}
