#pragma once
#include "grader/cpu/include/warplab_cpu/api.h"

namespace warplab_cpu {

/// Set this host thread's last error to `error` and return it.
cudaError_t set_error(cudaError_t error);

/// Store a function's result. Return cudaErrorInvalidValue if `place` is null.
template <class T, class Value>
cudaError_t store_result(T* place, Value value) {
    if (!place) return set_error(cudaErrorInvalidValue);
    *place = value;
    return cudaSuccess;
}

}  // namespace warplab_cpu
