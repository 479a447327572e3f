// Copies the judge's plain fields into the padded buffers of the contract, makes the calls (one for every report_every
// iterations), and copies the answer out.

#include <algorithm>

#include "grader/runner/driver.h"
#include "labs/heat_dissipation/lab.h"

namespace {

struct Sizes {
    std::size_t rows, columns, max_iterations, report_every;
    std::size_t padded_bytes() const { return (rows + 2) * (columns + 2) * sizeof(double); }
};

Sizes sizes_of(const warplab::Call& call) {
    const auto size = [&](int index) { return static_cast<std::size_t>(call.sizes[index]); };
    return {size(0), size(1), size(2), size(3)};
}

std::size_t round_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

std::size_t students_scratch_bytes(const Sizes& sizes) {
    if (!heat_dissipation_scratch_bytes) return 0;
    return heat_dissipation_scratch_bytes(sizes.rows, sizes.columns,
                                          std::min(sizes.max_iterations, sizes.report_every));
}

constexpr std::size_t real_bytes = sizeof(double);

/// Copy `count` columns of the field, from column `first` on, to the padded field, from column `to` on.
void copy_columns(const double* field, double* padded, const Sizes& sizes, std::size_t first, std::size_t to,
                  std::size_t count) {
    const std::size_t pitch = sizes.columns + 2;
    CUDA_CHECK(cudaMemcpy2DAsync(padded + pitch + to, pitch * real_bytes, field + first, sizes.columns * real_bytes,
                                 count * real_bytes, sizes.rows, cudaMemcpyDeviceToDevice));
}

void copy_halo_row(const double* halo, double* row, std::size_t columns) {
    const auto copy = [](double* to, const double* from, std::size_t count) {
        CUDA_CHECK(cudaMemcpyAsync(to, from, count * real_bytes, cudaMemcpyDeviceToDevice));
    };
    copy(row, halo + columns - 1, 1);
    copy(row + 1, halo, columns);
    copy(row + 1 + columns, halo, 1);
}

/// Give the buffers the contract's names, which the sanitizer's messages use.
void name_fields(const Sizes& sizes, double* current, double* next) {
    warplab::name_part(current, sizes.padded_bytes(), "current");
    warplab::name_part(next, sizes.padded_bytes(), "next");
}

/// Fill both padded fields. Use only copies and no kernels, because all kernels are counted as the student's.
void fill_padded(const warplab::Call& call, const Sizes& sizes, double* current, double* next) {
    const auto *field = call.buffer<const double>(0), *halo = call.buffer<const double>(2);
    copy_columns(field, current, sizes, 0, 1, sizes.columns);
    copy_columns(field, current, sizes, sizes.columns - 1, 0, 1);
    copy_columns(field, current, sizes, 0, sizes.columns + 1, 1);
    copy_halo_row(halo, current, sizes.columns);
    copy_halo_row(halo + sizes.columns, current + (sizes.rows + 1) * (sizes.columns + 2), sizes.columns);
    CUDA_CHECK(cudaMemcpyAsync(next, current, sizes.padded_bytes(), cudaMemcpyDeviceToDevice));
}

void write_answer(const warplab::Call& call, const Sizes& sizes, const HeatState& state) {
    constexpr double no_field = -1;
    const double result[2] = {state.field ? static_cast<double>(state.iterations) : no_field, state.largest_change};
    CUDA_CHECK(cudaMemcpy(call.buffer<double>(4), result, sizeof result, cudaMemcpyHostToDevice));
    if (!state.field) return;
    const std::size_t pitch = sizes.columns + 2;
    CUDA_CHECK(cudaMemcpy2DAsync(call.buffer<double>(3), sizes.columns * real_bytes, state.field + pitch + 1,
                                 pitch * real_bytes, sizes.columns * real_bytes, sizes.rows, cudaMemcpyDeviceToDevice));
}

/// Call the contract's function until all iterations are done or it ends early. If it returns a pointer other than its
/// two buffers, `field` is null.
HeatState iterate(const warplab::Call& call, const Sizes& sizes, double* current, double* next, void* scratch) {
    HeatState total{current, 0, 0};
    do {
        const std::size_t requested = std::min(sizes.report_every, sizes.max_iterations - total.iterations);
        name_fields(sizes, current, next);
        const HeatState state = heat_dissipation(current, next, call.buffer<const double>(1), sizes.rows, sizes.columns,
                                                 call.reals[0], requested, scratch);
        total = {state.field, total.iterations + state.iterations, state.largest_change};
        if (state.field != current && state.field != next) return {nullptr, total.iterations, total.largest_change};
        if (state.iterations != requested || state.largest_change < call.reals[0]) break;
        if (state.field == next) std::swap(current, next);
    } while (total.iterations < sizes.max_iterations);
    return total;
}

}  // namespace

void driver_call(const warplab::Call& call) {
    const Sizes sizes = sizes_of(call);
    // The fields are at the end of scratch, so that a write past the end of the last field hits the guard zone.
    const std::size_t fields_offset = round_up(students_scratch_bytes(sizes));
    auto* current = reinterpret_cast<double*>(static_cast<char*>(call.scratch) + fields_offset);
    double* next = current + round_up(sizes.padded_bytes()) / sizeof(double);
    if (fields_offset) warplab::name_part(call.scratch, students_scratch_bytes(sizes), "scratch");
    name_fields(sizes, current, next);
    fill_padded(call, sizes, current, next);
    write_answer(call, sizes, iterate(call, sizes, current, next, fields_offset ? call.scratch : nullptr));
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    const Sizes sizes = sizes_of(call);
    return round_up(students_scratch_bytes(sizes)) + 2 * round_up(sizes.padded_bytes());
}

void driver_prepare(const warplab::Call& call) {
    const Sizes sizes = sizes_of(call);
    if (heat_dissipation_prepare)
        heat_dissipation_prepare(sizes.rows, sizes.columns, std::min(sizes.max_iterations, sizes.report_every));
}

bool driver_has_host() { return false; }

void driver_host_call(const warplab::Call&) {}
