#pragma once
// dot_product: the contract. Every stage's file defines dot_product with exactly this signature; nothing else is
// required. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// out[0] = a[0] * b[0] + a[1] * b[1] + … + a[n - 1] * b[n - 1], modulo 2^32.
///
/// Products and sums wrap around, as int arithmetic does on the GPU. So additions may be done in any order, the answer
/// is exact for every n, and a single product that is lost or counted twice shows.
///
/// a, b     device pointers, n ints each (32 bits, any value), read only. They do not overlap each other or out.
/// out      device pointer, one int. It holds garbage before the call, not 0, and must be written even for n = 0.
/// n        any number of elements from 0 to beyond 2^31, and no multiple of anything.
/// scratch  device memory of dot_product_scratch_bytes(n) bytes, or null when that is 0 or not defined. Its contents
///          are arbitrary before every call: a counter kept there must be set in the call that uses it.
///
/// Every pointer is aligned to 256 bytes. What lies beyond element n - 1 belongs to others: reading or writing it is
/// a mistake even where it does no harm. For n = 0, a and b may be null.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call
/// to call that depends on the contents. The work is the GPU's: bytes copied to the host are counted, and a stage
/// allows none unless the handout says how many.
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch);

/// Optional: bytes of scratch that dot_product wants for this n. Not timed.
__attribute__((weak)) std::size_t dot_product_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends on n alone. Not timed.
__attribute__((weak)) void dot_product_prepare(std::size_t n);
