#pragma once
// smoothing_filter: the contract. Every stage's file defines smoothing_filter with exactly this signature; nothing else
// is required. Include this file. Do not define main: the grader has its own.

#include <cuda_runtime.h>

#include <cstddef>

#include "grader/runner/cuda_check.h"  // CUDA_CHECK(call)

constexpr int filter_size = 5;  // rows and columns of the filter

/// Every pixel of out is the weighted sum of the 5 x 5 pixels around it:
///
///     out[y * width + x] = sum of filter[r * 5 + c] * image[(y + r) * (width + 4) + x + c]   for r, c = 0 … 4
///
/// image    device pointer, (width + 4) * (height + 4) floats, row by row, read only: the picture with two more pixels
///          on each side. So every pixel of out has all its neighbours, and none needs a special case.
/// out      device pointer, width * height floats, row by row. It holds garbage before the call.
/// width, height   of the picture, from 1 to 200,000. They need not be multiples of any number, and can be smaller
///          than the filter. (width + 4) * (height + 4) is less than 2^31, so an int can index it.
/// filter   host pointer, 25 floats, row by row. In most datasets the weights are 1 (rim), 2 (inner ring) and 3
///          (centre), divided by their sum, 35. Any other weights are possible, also negative and asymmetric ones. Do
///          not mirror them.
/// scratch  device memory of smoothing_filter_scratch_bytes(width, height) bytes, or null if that is 0 or the function
///          is not defined. Its contents are arbitrary before every call.
///
/// You may add in any order, and use fused multiply-adds: outputs need to agree only to within rounding.
///
/// Both device pointers are aligned to 256 bytes, but a row of image begins at a multiple of 16 bytes only if width is
/// a multiple of 4. The memory beyond the last pixel belongs to other data: reading or writing it is a mistake.
///
/// The function runs on the host and launches kernels on the default stream. It may synchronise and allocate memory,
/// and must free all memory that it allocates. It is called many times, each time with different pointers and contents,
/// so do not keep anything from call to call that depends on the image. Do not copy any bytes to the host.
void smoothing_filter(const float* image, float* out, int width, int height, const float* filter, void* scratch);

/// Optional: called before the calls with these sizes and this filter, to set up what depends only on them: here you
/// can copy the filter to the device. Not timed.
__attribute__((weak)) void smoothing_filter_prepare(int width, int height, const float* filter);

/// Optional: bytes of scratch that smoothing_filter needs for these sizes. Not timed.
__attribute__((weak)) std::size_t smoothing_filter_scratch_bytes(int width, int height);
