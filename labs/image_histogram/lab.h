#pragma once
// image_histogram: the contract. Every stage's file defines image_histogram with exactly this signature; nothing else
// is required. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr int bin_count = 256;  // a bin for each value that a byte can have

/// bins[v] becomes the number of pixels whose value is v, for v = 0 … 255.
///
/// pixels   device pointer, n bytes, read only: a grey picture, or one channel of a colour picture; its rows follow
///          each other without a gap, so width and height do not matter here.
/// bins     device pointer, 256 unsigned ints. They hold garbage before the call, not 0, and all of them must be
///          written, even for n = 0.
/// n        any number of pixels from 0 to 2^32 - 1. It need not be a multiple of any number. Every count fits into an
///          unsigned int, but an int cannot index all pixels.
/// scratch  device memory of image_histogram_scratch_bytes(n) bytes, or null if that is 0 or the function is not
///          defined. Its contents are arbitrary before every call.
///
/// Every pointer is aligned to 256 bytes. The memory beyond pixel n - 1 belongs to other data: reading or writing it is
/// a mistake even if nothing visible goes wrong. For n = 0, pixels may be null.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the pixels. Do not copy any bytes to the host.
void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* scratch);

/// Optional: bytes of scratch that image_histogram needs for this n. Not timed.
__attribute__((weak)) std::size_t image_histogram_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends only on n. Not timed.
__attribute__((weak)) void image_histogram_prepare(std::size_t n);
