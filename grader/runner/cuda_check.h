#pragma once
// CUDA_CHECK(expression): students and the kit use it for every CUDA call. If the call fails, it prints the call, the
// place and the reason, and ends the process.
//
//     CUDA_CHECK(cudaMemset(out, 0, bytes));
//     kernel<<<blocks, threads>>>(out, n);
//     CUDA_CHECK(cudaGetLastError());  // a launch has no return value; this reports whether it was accepted

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warplab {

/// Return the process's exit status, which determines the judge's hint.
inline int cuda_check_status(cudaError_t error) {
    return error == cudaErrorMemoryAllocation       ? 92
           : error == cudaErrorInvalidConfiguration ? 93
           : error == cudaErrorInvalidValue         ? 94
                                                    : 90;
}

inline void cuda_check(cudaError_t error, const char* expression, const char* file, int line) {
    if (error == cudaSuccess) return;
    const char* slash = std::strrchr(file, '/');
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", slash ? slash + 1 : file, line, expression,
                 cudaGetErrorName(error), cudaGetErrorString(error));
    std::_Exit(cuda_check_status(error));  // not exit(): destructors would make more CUDA calls
}

}  // namespace warplab

#define CUDA_CHECK(...) ::warplab::cuda_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
