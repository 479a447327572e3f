#pragma once
#include "grader/cpu/include/warplab_cpu/api.h"

namespace warplab_cpu {

/// Set this host thread's last error to `error` and return it.
cudaError_t set_error(cudaError_t error);

}  // namespace warplab_cpu
