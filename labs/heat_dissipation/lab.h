#pragma once
// heat_dissipation: the contract. Every stage's file defines heat_dissipation with exactly this signature; nothing else
// is required. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// Weights of the neighbours: of each of the 4 direct ones, and of each of the 4 diagonal ones. All eight add up to 1.
constexpr double direct_weight = 1.4142135623730951 / (1.4142135623730951 + 1) / 4;
constexpr double diagonal_weight = 1 / (1.4142135623730951 + 1) / 4;

/// What a call leaves.
struct HeatState {
    double* field;           // the buffer that holds the answer: current or next, as they were passed
    std::size_t iterations;  // how many were done
    double largest_change;   // the largest |new - old| over all cells in the last one; 0 if none was done
};

/// Heat flows over the surface of a cylinder, rows x columns cells: the first column is the right neighbour of the
/// last.
///
/// In every iteration each cell gets a new temperature from its own and those of its eight neighbours,
///
///     new = c * old + (1 - c) * (direct_weight * sum of 4 direct + diagonal_weight * sum of 4 diagonal neighbours)
///
/// with the cell's own conductivity c from 0 to 1 (1 stays as it is). All cells change at once: new ones are made of
/// old ones only. It ends after max_iterations, or after the first iteration in which every |new - old| is below
/// threshold; that is tested in every iteration, and with threshold = 0 it never ends early.
///
/// current       device pointer, (rows + 2) x (columns + 2) doubles, row after row. Cell (i, j), counted from 0, is
///               current[(i + 1) * (columns + 2) + j + 1]. Around the cells:
///                 halo rows       rows 0 and rows + 1 of the buffer, the temperatures above and below the cylinder.
///                                 They stay as they are, always.
///                 mirror columns  column 0 of the buffer repeats the last column of cells, column columns + 1 repeats
///                                 the first one, so that every cell finds its neighbours left and right of it.
///               All of that is there when the call begins.
/// next          device pointer, as many doubles, with the same contents as current when the first call begins. Take
///               turns: make next of current, then exchange the two.
/// conductivity  device pointer, rows x columns doubles without any border: cell (i, j) has conductivity[i * columns +
/// j].
///               Read only.
/// rows, columns 1 or more, in any proportion, and no multiple of anything.
/// threshold     0 or more.
/// max_iterations  0 or more. For 0, current is the answer.
/// scratch       device memory of heat_dissipation_scratch_bytes(…) bytes, or null when that is 0 or not defined. Its
///               contents are arbitrary before every call.
///
/// The field that is returned has its halo rows and its mirror columns in order, and the other buffer its halo rows:
/// for a report every k iterations the function is called again and again with max_iterations = k, the field as
/// current, the other as next, and nothing in between. Temperatures lie between -1000 and 1000. Pointers are aligned to
/// 256 bytes.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call to
/// call that depends on the contents. The work is the GPU's: for every iteration of max_iterations 8 bytes may be
/// copied to the host (the largest change), not more.
HeatState heat_dissipation(double* current, double* next, const double* conductivity, std::size_t rows,
                           std::size_t columns, double threshold, std::size_t max_iterations, void* scratch);

/// Optional: bytes of scratch that heat_dissipation wants for these sizes. Not timed.
__attribute__((weak)) std::size_t heat_dissipation_scratch_bytes(std::size_t rows, std::size_t columns,
                                                                 std::size_t max_iterations);

/// Optional: called before the calls with these sizes, to set up what depends on them alone. Not timed.
__attribute__((weak)) void heat_dissipation_prepare(std::size_t rows, std::size_t columns, std::size_t max_iterations);
