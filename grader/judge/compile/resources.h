#pragma once
// What ptxas reports of a file's kernels (nvcc -Xptxas -v).

#include <map>
#include <string>

namespace warplab {

struct KernelResources {
    int registers = 0;      // of a thread
    int spilled_bytes = 0;  // of a thread: stored to memory because registers ran out
};

/// By the kernel's name without namespaces, template arguments and parameters. Of several kernels with one name: the
/// most.
std::map<std::string, KernelResources> read_resource_report(const std::string& report);

/// The name that the report's kernels have there: "histogram_kernel" for "ours::histogram_kernel<256, int>".
std::string plain_kernel_name(std::string name);

}  // namespace warplab
