#pragma once
// vector_add: the contract. Every stage's file defines vector_add with exactly this signature; stage 01 also defines
// vector_add_host. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// out[i] = a[i] + b[i] for every i from 0 to n - 1. Checked bit for bit: float addition rounds the same everywhere.
///
/// a, b     device pointers, n floats each, read only. They do not overlap each other or out.
/// out      device pointer, n floats. It holds garbage before the call, and every element must be written.
/// n        any number of elements from 0 to well beyond 2^31. It need not be a multiple of any number.
/// scratch  device memory of vector_add_scratch_bytes(n) bytes, or null if that is 0 or the function is not defined.
///          Its contents are arbitrary before every call. No stage of this lab needs any.
///
/// Every pointer is aligned to 256 bytes. The memory beyond element n - 1 belongs to other data: reading or writing it
/// is a mistake even if nothing visible goes wrong. For n = 0 the pointers may be null.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the contents. The GPU must do all the work: do not copy
/// anything to the host.
void vector_add(const float* a, const float* b, float* out, std::size_t n, void* scratch);

/// Optional: bytes of scratch that vector_add needs for this n. Not timed.
__attribute__((weak)) std::size_t vector_add_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends only on n. Not timed.
__attribute__((weak)) void vector_add_prepare(std::size_t n);

/// Stage 01 only: the same function for host memory. It allocates device memory, copies a and b in, calls vector_add,
/// copies out back and frees what it allocated. The grader checks its answers, errors and leaks, and does not score its
/// speed.
/// a, b, out  host pointers, n floats each
__attribute__((weak)) void vector_add_host(const float* a, const float* b, float* out, std::size_t n);
