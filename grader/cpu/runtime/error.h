#pragma once
#include "grader/cpu/include/warplab_cpu/api.h"

namespace warplab_cpu {

/// Makes `error` this host thread's last error; returns it.
cudaError_t set_error(cudaError_t error);

}  // namespace warplab_cpu
