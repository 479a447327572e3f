#pragma once
// large_histogram: the contract. Every stage's file defines large_histogram with exactly this signature; nothing else
// is required. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr unsigned soft_cap = 127;

/// Makes many 2D histograms at once, each of its own values.
///
/// values      device pointer, histograms * n unsigned ints, read only: the values of histogram h are values[h * n] …
///             values[h * n + n - 1]. Each is the number of a bin, y * columns + x, and below columns * rows.
/// bins        device pointer, histograms * rows * columns bytes. It holds garbage before the call. After it,
///             bins[(h * rows + y) * columns + x] says how often y * columns + x is among the values of histogram h:
///             exactly, if that is less than soft_cap; anything from soft_cap to 255, if it is soft_cap or more.
/// histograms  1 or more.
/// n           values per histogram; 0 or more, and no multiple of anything. values is aligned to 256 bytes, but where
///             n is no multiple of 4, most histograms' first value is not aligned to 16.
/// columns     a power of two from 16 to 2048.
/// rows        from 1 to 1024. The benchmark's size is 2048 x 1024.
/// scratch     device memory of large_histogram_scratch_bytes(…) bytes, or null when that is 0 or not defined. Its
///             contents are arbitrary before every call.
///
/// Values may be distributed in any way: they may all be one value, or all but one may be. In the benchmark they
/// cluster around a centre, which is another one for each histogram.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call to
/// call that depends on the values. No bytes may be copied to the host.
void large_histogram(const unsigned* values, unsigned char* bins, unsigned histograms, std::size_t n, unsigned columns,
                     unsigned rows, void* scratch);

/// Optional: bytes of scratch that large_histogram wants for these sizes. Not timed.
__attribute__((weak)) std::size_t large_histogram_scratch_bytes(unsigned histograms, std::size_t n, unsigned columns,
                                                                unsigned rows);

/// Optional: called before the calls with these sizes, to set up what depends on them alone. Not timed.
__attribute__((weak)) void large_histogram_prepare(unsigned histograms, std::size_t n, unsigned columns, unsigned rows);
