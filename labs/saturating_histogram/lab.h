#pragma once
// saturating_histogram: the contract. Every stage's file defines saturating_histogram with exactly this signature;
// nothing else is required. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr unsigned bin_count = 1024;
constexpr unsigned bin_full = 255;  // the most that a bin of 8 bits holds

/// Counts how often each value occurs, up to 255: bins[v] = min(255, number of elements that are v), for v = 0 … 1023.
///
/// input    device pointer, height rows of width elements, read only. Row y begins at input[y * pitch], so that every
///          row begins at a multiple of 512 bytes. All elements are below 1024. What follows them in a row, the
///          padding, holds anything: it may be read and must not be counted, and its values may be no bins at all.
/// bins     device pointer, 1024 bytes. They hold garbage before the call, and all must be written, even for no
///          elements.
/// width, height   from 0 to 2^31 - 1, no multiple of anything; either may be 0, and width * height may go beyond 2^32
/// pitch    elements from one row to the next: (width + 128) & ~127, more than width and a multiple of 128
/// scratch  device memory of saturating_histogram_scratch_bytes(width, height) bytes, or null when that is 0 or not
///          defined. Its contents are arbitrary before every call: bins kept there must be cleared in every call.
///
/// The pointers are aligned to 256 bytes. What lies beyond the last row belongs to others: reading or writing it is a
/// mistake even where it does no harm. Without rows, input may be null.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call to
/// call that depends on the contents. No bytes may be copied to the host.
void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch);

/// Optional: bytes of scratch that saturating_histogram wants for these sizes. Not timed.
__attribute__((weak)) std::size_t saturating_histogram_scratch_bytes(std::size_t width, std::size_t height);

/// Optional: called before the calls with these sizes, to set up what depends on them alone. Not timed.
__attribute__((weak)) void saturating_histogram_prepare(std::size_t width, std::size_t height);

/// Stage 01 only: the same on host memory. Allocates device memory, copies the rows in, calls saturating_histogram,
/// copies the bins back and frees what it allocated. Checked for right answers, errors and leaks; not scored for speed.
/// input, bins  host pointers, laid out as above: height * pitch elements, and 1024 bytes
__attribute__((weak)) void saturating_histogram_host(const std::uint32_t* input, std::uint8_t* bins, std::size_t width,
                                                     std::size_t height, std::size_t pitch);
