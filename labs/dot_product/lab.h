#pragma once
// dot_product: the contract. Every stage's file defines dot_product with exactly this signature; nothing else is
// required. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// out[0] = a[0] * b[0] + a[1] * b[1] + … + a[n - 1] * b[n - 1], modulo 2^32.
///
/// Products and sums wrap around, as the GPU's int instructions do. (C++ defines this for unsigned arithmetic only.)
/// So you may add in any order, the answer is exact for every n, and the grader notices a single product that is lost
/// or counted twice.
///
/// a, b     device pointers, n ints each (32 bits, any value), read only. They do not overlap each other or out.
/// out      device pointer, one int. It holds garbage before the call, not 0, and must be written even for n = 0.
/// n        any number of elements from 0 to beyond 2^31. It need not be a multiple of any number.
/// scratch  device memory of dot_product_scratch_bytes(n) bytes, or null if that is 0 or the function is not defined.
///          Its contents are arbitrary before every call: a counter kept there must be set in the call that uses it.
///
/// Every pointer is aligned to 256 bytes. The memory beyond element n - 1 belongs to other data: reading or writing it
/// is a mistake even if nothing visible goes wrong. For n = 0, a and b may be null.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the contents. The GPU must do the work: the grader counts
/// the bytes that are copied to the host, and a stage allows none unless the handout gives a number.
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch);

/// Optional: bytes of scratch that dot_product needs for this n. Not timed.
__attribute__((weak)) std::size_t dot_product_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends only on n. Not timed.
__attribute__((weak)) void dot_product_prepare(std::size_t n);
