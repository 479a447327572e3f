#pragma once
// vector_add: the contract. Every stage's file defines vector_add with exactly this signature, stage 01 vector_add_host
// as well. Include this file and leave main to the grader.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

/// out[i] = a[i] + b[i] for every i from 0 to n - 1. Checked bit for bit: float addition rounds the same everywhere.
///
/// a, b     device pointers, n floats each, read only. They do not overlap each other or out.
/// out      device pointer, n floats. It holds garbage before the call, and every element must be written.
/// n        any number of elements from 0 to well beyond 2^31, and no multiple of anything.
/// scratch  device memory of vector_add_scratch_bytes(n) bytes, or null when that is 0 or not defined. Its contents
///          are arbitrary before every call. No stage of this lab needs any.
///
/// Every pointer is aligned to 256 bytes. What lies beyond element n - 1 belongs to others: reading or writing it is
/// a mistake even where it does no harm. For n = 0 the pointers may be null.
///
/// A host function: it launches kernels on the default stream. It may synchronise and allocate, and gives back what it
/// allocates. It is called many times, on other pointers and contents each time, so nothing may be kept from call
/// to call that depends on the contents. The work is the GPU's: nothing is copied to the host.
void vector_add(const float* a, const float* b, float* out, std::size_t n, void* scratch);

/// Optional: bytes of scratch that vector_add wants for this n. Not timed.
__attribute__((weak)) std::size_t vector_add_scratch_bytes(std::size_t n);

/// Optional: called before the calls with this n, to set up what depends on n alone. Not timed.
__attribute__((weak)) void vector_add_prepare(std::size_t n);

/// Stage 01 only: the same on host memory. Allocates device memory, copies a and b in, calls vector_add, copies out
/// back and frees what it allocated. Checked for right answers, errors and leaks; not scored for speed.
/// a, b, out  host pointers, n floats each
__attribute__((weak)) void vector_add_host(const float* a, const float* b, float* out, std::size_t n);
