#pragma once
// heat_dissipation: the contract. Every stage's file defines heat_dissipation with exactly this signature; nothing else
// is required. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// The weight of each of the 4 direct neighbours, and of each of the 4 diagonal ones. All eight weights add up to 1.
constexpr double direct_weight = 1.4142135623730951 / (1.4142135623730951 + 1) / 4;
constexpr double diagonal_weight = 1 / (1.4142135623730951 + 1) / 4;

/// The result of a call.
struct HeatState {
    double* field;           // the buffer that holds the answer: current or next, as they were passed
    std::size_t iterations;  // the number of iterations that were done
    double largest_change;   // the largest |new - old| over all cells in the last one; 0 if none was done
};

/// Heat flows over the surface of a cylinder, rows x columns cells: the first column is the right neighbour of the
/// last.
///
/// In every iteration, each cell gets a new temperature from its own temperature and those of its eight neighbours:
///
///     new = c * old + (1 - c) * (direct_weight * sum of 4 direct + diagonal_weight * sum of 4 diagonal neighbours)
///
/// Here c is the cell's own conductivity, from 0 to 1 (a cell with 1 never changes). All cells change at once: new
/// temperatures depend only on old ones. The function ends after max_iterations, or after the first iteration in which
/// every |new - old| is below threshold. It must test this in every iteration. With threshold = 0 it never ends early.
///
/// current       device pointer, (rows + 2) x (columns + 2) doubles, row after row. Cell (i, j), counted from 0, is
///               current[(i + 1) * (columns + 2) + j + 1]. Around the cells:
///                 halo rows       rows 0 and rows + 1 of the buffer, the temperatures above and below the cylinder.
///                                 They never change.
///                 mirror columns  column 0 of the buffer repeats the last column of cells, column columns + 1 repeats
///                                 the first one, so that every cell finds its neighbours left and right of it.
///               All of this is set when the first call begins.
/// next          device pointer, as many doubles, with the same contents as current when the first call begins. Compute
///               next from current, then exchange the two.
/// conductivity  device pointer, rows x columns doubles without any border: cell (i, j) has
///               conductivity[i * columns + j]. Read only.
/// rows, columns 1 or more, in any proportion. They need not be multiples of any number.
/// threshold     0 or more.
/// max_iterations  0 or more. For 0, current is the answer.
/// scratch       device memory of heat_dissipation_scratch_bytes(…) bytes, or null if that is 0 or the function is not
///               defined. Its contents are arbitrary before every call.
///
/// The grader checks the cells of the field that you return. For a report every k iterations, it calls the function
/// again and again with max_iterations = k, the field as current and the other buffer as next, and changes nothing in
/// between. So the halo rows must be right in both buffers when you return, and in the field also the mirror columns,
/// unless your kernels never read them. Temperatures lie between -1000 and 1000. Pointers are aligned to 256 bytes.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the contents. The GPU must do the work: for each iteration
/// of max_iterations, you may copy at most 8 bytes to the host (the largest change).
HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch);

/// Optional: bytes of scratch that heat_dissipation needs for these sizes. Not timed.
__attribute__((weak)) std::size_t heat_dissipation_scratch_bytes(std::size_t rows, std::size_t columns,
                                                                 std::size_t max_iterations);

/// Optional: called before the calls with these sizes, to set up what depends only on them. Not timed.
__attribute__((weak)) void heat_dissipation_prepare(std::size_t rows, std::size_t columns, std::size_t max_iterations);
