#pragma once
// Every compiler, and every flag that student code and the harness around it are compiled with.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/model/backend.h"

namespace warplab {

/// Functions that the linker sends to runner/backend_cuda.cpp first (--wrap).
inline constexpr std::array wrapped_functions = {"cudaMemcpy",          "cudaMemcpyAsync",
                                                 "cudaMemcpy2D",        "cudaMemcpyFromSymbol",
                                                 "cudaMalloc",          "cudaFree",
                                                 "cudaLaunchKernel",    "__cudaLaunchKernel",
                                                 "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel",
                                                 "cudaGraphLaunch",     "exit"};

/// g++ (or $CXX) and nvcc ($NVCC, on the PATH, or in /usr/local/cuda/bin): the compilers themselves even if the PATH
/// has a wrapper script or a cache; empty if not found.
std::filesystem::path find_cxx();
std::filesystem::path find_nvcc();

/// For reports: "g++ 12.2.0", "nvcc 13.0.88"; empty when there is none.
std::string compiler_version();
std::string nvcc_version();

/// What tells this compiler from another without running it: path, size and time of change.
std::string compiler_identity(const std::filesystem::path& compiler);

/// Folders of the CUDA Toolkit that nvcc belongs to.
std::filesystem::path cuda_include();
std::filesystem::path cuda_library();  // holds libcudart_static.a; empty when it is not there

/// The GPU's architecture ("sm_90"); the oldest that every stage runs on where there is no GPU.
std::string gpu_architecture();

using Flags = std::vector<std::string>;

/// Flags of g++ for a student's rewritten file. Graded code has the sanitizer's hook at every memory access; code that
/// is only timed has none.
Flags student_cpu_flags();
Flags check_mode_flags();
Flags fast_cpu_flags();
/// More flags for a file with kernels that are split at their barriers.
Flags split_cpu_flags();
/// nvcc on a student's file. `for_tools`: with line numbers, for compute-sanitizer and ncu.
Flags student_cuda_flags(bool for_tools);
/// nvcc on a student's file for ptxas' report of registers alone: compiles no host code.
Flags resource_report_flags(const std::string& architecture);
/// g++ on the runner, the drivers and the CPU backend's runtime.
Flags harness_flags(Backend backend);
/// g++ linking all of it.
Flags link_flags(Backend backend);
/// Libraries of the CUDA Toolkit, found again at run time: "cublas".
Flags library_flags(const std::vector<std::string>& libraries);

}  // namespace warplab
