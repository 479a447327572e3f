#pragma once
// large_histogram: the contract. Every stage's file defines large_histogram with exactly this signature; nothing else
// is required. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr unsigned soft_cap = 127;

/// Computes many 2D histograms at once, each from its own values.
///
/// values      device pointer, histograms * n unsigned ints, read only: the values of histogram h are values[h * n] …
///             values[h * n + n - 1]. Each is the number of a bin, y * columns + x, and below columns * rows.
/// bins        device pointer, histograms * rows * columns bytes. It holds garbage before the call. After it, bins[(h *
///             rows + y) * columns + x] must be the number of times that y * columns + x occurs in the values of
///             histogram h. If this number is below soft_cap, it must be exact. Otherwise any number from soft_cap to
///             255 is right.
/// histograms  1 or more.
/// n           values per histogram; 0 or more. It need not be a multiple of any number. values is aligned to 256
///             bytes, but if n is not a multiple of 4, the first value of most histograms is not aligned to 16.
/// columns     a power of two from 16 to 2048.
/// rows        from 1 to 1024. The benchmark's size is 2048 x 1024.
/// scratch     device memory of large_histogram_scratch_bytes(…) bytes, or null if that is 0 or the function is not
///             defined. Its contents are arbitrary before every call.
///
/// Values may be distributed in any way: all of them, or all but one, may be equal. In the benchmark they cluster
/// around a centre, which is different for each histogram.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the values. Do not copy any bytes to the host.
void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* scratch);

/// Optional: bytes of scratch that large_histogram needs for these sizes. Not timed.
__attribute__((weak)) std::size_t large_histogram_scratch_bytes(unsigned histograms, std::size_t n, unsigned columns,
                                                                unsigned rows);

/// Optional: called before the calls with these sizes, to set up what depends only on them. Not timed.
__attribute__((weak)) void large_histogram_prepare(unsigned histograms, std::size_t n, unsigned columns, unsigned rows);
