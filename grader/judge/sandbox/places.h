#pragma once
// Which parts of the machine every sandboxed program sees.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/sandbox/compilers.h"

namespace warplab::sandbox {

/// The full path of a program, by the judge's PATH; empty when there is none.
std::filesystem::path find_program(const std::string& name);

/// This judge's compilers: $CXX or g++, and $NVCC or nvcc (on the PATH or in /usr/local/cuda/bin). Found once.
const CompilerPlaces& gcc();
const CompilerPlaces& nvcc();

/// All folders outside /usr that the compilers and their tools read, such as a cluster's modules: their own folders,
/// never the folder that a wrapper or a link to them lies in.
std::vector<std::filesystem::path> tool_folders();

/// Top-level folders of the system such as /bin and /lib64 (some are links into /usr).
std::vector<std::filesystem::path> system_folders();

/// What a program needs of /etc: the linker's configuration and Debian's alternatives.
std::vector<std::filesystem::path> etc_files();

/// Files of /proc that describe the kernel and the machine, not processes.
std::vector<std::filesystem::path> kernel_files();

/// Device nodes of the driver, and of one GPU, /dev/nvidiaN; of every GPU where `node` is none.
std::vector<std::filesystem::path> gpu_devices(std::optional<int> node);

/// Folders that hold the driver's libraries where the linker does not look by itself (/usr/local/nvidia/lib64 …).
std::vector<std::filesystem::path> driver_folders();

/// What the caller gives, then PATH, HOME, LANG, LD_LIBRARY_PATH, WARPLAB_THREADS and, for a program on the GPU,
/// CUDA_VISIBLE_DEVICES, which a program that sees `only` one GPU needs for a part of it alone (MIG-…). Of two with one
/// name the caller's counts.
std::vector<std::string> clean_environment(bool gpu, bool only, const std::vector<std::string>& more);

}  // namespace warplab::sandbox
