#pragma once
// saturating_histogram: the contract. Every stage's file defines saturating_histogram with exactly this signature;
// stage 01 also defines saturating_histogram_host. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr unsigned bin_count = 1024;
constexpr unsigned bin_full = 255;  // the maximum of a bin of 8 bits

/// Counts how often each value occurs, up to 255: bins[v] = min(255, number of elements that are v), for v = 0 … 1023.
///
/// input    device pointer, height rows of width elements, read only. Row y begins at input[y * pitch], so every row
///          begins at a multiple of 512 bytes. All elements are below 1024. The padding after them in a row may hold
///          any values, even values that are not the number of a bin. You may read it, but must not count it.
/// bins     device pointer, 1024 bytes. They hold garbage before the call, and all must be written, even if there are
///          no elements.
/// width, height   from 0 to 2^31 - 1; they need not be multiples of any number. width * height can exceed 2^32.
/// pitch    elements from one row to the next: (width + 128) & ~127, more than width and a multiple of 128
/// scratch  device memory of saturating_histogram_scratch_bytes(width, height) bytes, or null if that is 0 or the
///          function is not defined. Its contents are arbitrary before every call: bins kept there must be cleared in
///          every call.
///
/// The pointers are aligned to 256 bytes. The memory beyond the last row belongs to other data: reading or writing it
/// is a mistake even if nothing visible goes wrong. If there are no rows, input may be null.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the contents. Do not copy any bytes to the host.
void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch);

/// Optional: bytes of scratch that saturating_histogram needs for these sizes. Not timed.
__attribute__((weak)) std::size_t saturating_histogram_scratch_bytes(std::size_t width, std::size_t height);

/// Optional: called before the calls with these sizes, to set up what depends only on them. Not timed.
__attribute__((weak)) void saturating_histogram_prepare(std::size_t width, std::size_t height);

/// Stage 01 only: the same function for host memory. It allocates device memory, copies the rows in, calls
/// saturating_histogram, copies the bins back and frees what it allocated. The grader checks its answers, errors and
/// leaks, and does not score its speed.
/// input, bins  host pointers, laid out as above: height * pitch elements, and 1024 bytes
__attribute__((weak)) void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width,
                                                     std::size_t height, std::size_t pitch);
