#pragma once
// image_histogram: the contract. Every stage's file defines image_histogram with exactly this signature; nothing else
// is required. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr int bin_count = 256;  // a bin for each value that a byte can have

/// bins[v] becomes the number of pixels whose value is v, for v = 0 … 255.
///
/// pixels   device pointer, n bytes, read only: a grey picture, or one channel of a colour picture; its rows follow
///          each other without a gap, so width and height do not matter here.
/// bins     device pointer, 256 unsigned ints. They hold garbage before the call, not 0, and all of them must be
///          written, also for n = 0.
/// n        any number of pixels from 0 to 2^32 - 1, and no multiple of anything: every count fits an unsigned int, but
///          an int cannot index all pixels.
/// scratch  device memory of image_histogram_scratch_bytes(n) bytes, or null when that is 0 or not defined. Its
///          contents are arbitrary before every call.
///
/// Every pointer is aligned to 256 bytes. What lies beyond pixel n - 1 belongs to others: reading or writing it is a
/// mistake even where it does no harm. For n = 0, pixels may be null.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call to
/// call that depends on the pixels. No bytes may be copied to the host.
void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void* scratch);

/// Optional: bytes of scratch that image_histogram wants for this n. Not timed.
__attribute__((weak)) std::size_t image_histogram_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends on n alone. Not timed.
__attribute__((weak)) void image_histogram_prepare(std::size_t n);
