#pragma once
#include "grader/model/backend.h"
#include "grader/model/report.h"

namespace warplab {

/// Describe this machine for the report: host, CPU, GPU and driver if there is a GPU, compilers, system.
Machine describe_machine();

/// Return the reason why this machine cannot compile and run code for a GPU; empty if it can.
std::string why_no_gpu();

/// Return the backend named by `requested` ("cuda", "cpu"); if it is empty, the best available one: cuda if there is a
/// GPU and nvcc is installed. Throws UsageError with the reason if the named backend is not available.
Backend choose_backend(const std::string& requested);

}  // namespace warplab
