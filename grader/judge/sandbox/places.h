#pragma once
// The parts of the machine that a sandboxed program sees: compilers, system files, devices, environment variables.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/sandbox/compilers.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// Return the full path of a program on the judge's PATH; empty if there is none.
std::filesystem::path find_program(const std::string& name);

/// This judge's compilers: $CXX or g++, and $NVCC or nvcc (on the PATH or in /usr/local/cuda/bin). Searched for once.
const CompilerPlaces& gcc();
const CompilerPlaces& nvcc();

/// Return all folders outside /usr that the compilers and their tools read, such as those of a cluster's modules.
/// These are the compilers' own folders, never the folder of a wrapper or a link to them. Searched for once.
const std::vector<std::filesystem::path>& tool_folders();

/// Return top-level folders of the system such as /bin and /lib64 (some are links into /usr).
std::vector<std::filesystem::path> system_folders();

/// Return the files in /etc that a program under this policy needs: the dynamic linker's cache and, except for a
/// program on the CPU backend, the linker's configuration and Debian's alternatives.
std::vector<std::filesystem::path> etc_files(const Policy& policy);

/// Return the files of /proc that describe the kernel and the machine instead of processes.
std::vector<std::filesystem::path> kernel_files();

/// Return the device nodes of the driver and of one GPU, /dev/nvidiaN; of every GPU if `node` is empty.
std::vector<std::filesystem::path> gpu_devices(std::optional<int> node);

/// Return folders with the driver's libraries that the dynamic linker does not search (/usr/local/nvidia/lib64 …).
std::vector<std::filesystem::path> driver_folders();

/// Return `more`, then PATH, HOME, LANG, LD_LIBRARY_PATH, WARPLAB_THREADS and, for a program on the GPU,
/// CUDA_VISIBLE_DEVICES. A program that sees only one GPU gets this variable only if it names a part of the GPU
/// (MIG-…). If a name occurs twice, the value in `more` wins. In a sandbox, PATH contains only folders that the sandbox
/// shows.
std::vector<std::string> clean_environment(SandboxLevel level, bool gpu, bool sees_one_gpu,
                                           const std::vector<std::string>& more);

}  // namespace warplab::sandbox
