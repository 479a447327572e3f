#pragma once
// CUDA_CHECK(expression) checks the result of a CUDA call; students and the kit use it for every such call. If the call
// failed, the macro prints the call, the place and the reason, and ends the process.
//
//     CUDA_CHECK(cudaMemset(out, 0, bytes));
//     kernel<<<blocks, threads>>>(out, n);
//     CUDA_CHECK(cudaGetLastError());  // a launch has no return value; this reports whether it was accepted

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warplab {

/// Return the exit status after a failed call with this error. The judge's hint depends on the status.
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
