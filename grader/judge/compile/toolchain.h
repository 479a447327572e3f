#pragma once
// The compilers, and all flags for compiling student code and the harness around it.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/model/backend.h"

namespace warplab {

/// Functions whose calls the linker redirects to runner/backend_cuda.cpp (--wrap).
inline constexpr std::array wrapped_functions = {"cudaMemcpy",          "cudaMemcpyAsync",
                                                 "cudaMemcpy2D",        "cudaMemcpyFromSymbol",
                                                 "cudaMalloc",          "cudaFree",
                                                 "cudaLaunchKernel",    "__cudaLaunchKernel",
                                                 "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel",
                                                 "cudaGraphLaunch",     "exit"};

/// Return g++ (or $CXX) and nvcc ($NVCC, on the PATH, or in /usr/local/cuda/bin): the compilers themselves even if the
/// PATH has a wrapper script or a cache; empty if not found.
std::filesystem::path find_cxx();
std::filesystem::path find_nvcc();

/// Return a version for reports: "g++ 12.2.0", "nvcc 13.0.88"; empty if there is no compiler.
std::string compiler_version();
std::string nvcc_version();

/// Identify a compiler without running it: return its path, size and modification time.
std::string compiler_identity(const std::filesystem::path& compiler);

/// Return folders of the CUDA Toolkit that nvcc belongs to.
std::filesystem::path cuda_include();
std::filesystem::path cuda_library();  // holds libcudart_static.a; empty if that is missing

/// Return the GPU's architecture, such as "sm_89"; without a GPU, "sm_90".
std::string gpu_architecture();

using Flags = std::vector<std::string>;

/// Return g++ flags for a student's rewritten file. student_cpu_flags() are for every program; those of one of the
/// other functions are added: for graded code, with the sanitizer's hook at every memory access; for code that is only
/// timed, without hooks; for a trace of warps.
Flags student_cpu_flags();
Flags sanitizer_flags();
Flags fast_cpu_flags();
Flags traced_cpu_flags();
/// A flag for files that include <algorithm> before any code: they use a precompiled header that contains it.
inline constexpr auto algorithm_flag = "-DWARPLAB_CPU_ALGORITHM";
/// Return additional flags for a file with kernels that are split at their barriers.
Flags split_cpu_flags();
/// Return nvcc flags for a student's file. `for_tools`: with line numbers, for compute-sanitizer and ncu.
Flags student_cuda_flags(bool for_tools);
/// Return nvcc flags for ptxas' report of the registers of a student's file, without compiling host code.
Flags resource_report_flags(const std::string& architecture);
/// Return g++ flags for the runner, the drivers and the CPU backend's runtime.
Flags harness_flags(Backend backend);
/// Return g++ flags for linking a runner.
Flags link_flags(Backend backend);
/// Return flags to link libraries of the CUDA Toolkit, such as "cublas", and to find them at run time.
Flags library_flags(const std::vector<std::string>& libraries);

}  // namespace warplab
