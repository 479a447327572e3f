#pragma once
// clangd reads this file before a .cu file (see .clangd). The CPU backend's headers replace a CUDA Toolkit.

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))

// Kernels call these functions, so they must exist for host and device; the C++ headers would include too much here.
#pragma clang force_cuda_host_device begin
#include <string.h>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#pragma clang force_cuda_host_device end

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#pragma clang force_cuda_host_device begin
#undef __host__
#undef __device__
#include <cuda_runtime.h>
// clang turns a launch k<<<grid, block, shared, stream>>>(…) into a call of this function.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                     cudaStream_t stream = nullptr);
#pragma clang force_cuda_host_device end

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
