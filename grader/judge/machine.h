#pragma once
#include "grader/model/backend.h"
#include "grader/model/report.h"

namespace warplab {

/// What this machine is, for the report: host, CPU, GPU and driver where there is one, compilers, system.
Machine describe_machine();

/// Why nothing can be timed on a GPU here; empty when it can.
std::string why_no_gpu();

/// The backend that was asked for ("cuda", "cpu"), or the best there is for an empty text: cuda where a GPU and nvcc
/// are. Throws UsageError with why the one asked for cannot be.
Backend choose_backend(const std::string& asked);

}  // namespace warplab
