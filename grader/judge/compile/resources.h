#pragma once
// Reads ptxas' report of a file's kernels (nvcc -Xptxas -v).

#include <map>
#include <string>

namespace warplab {

struct KernelResources {
    int registers = 0;      // per thread
    int spilled_bytes = 0;  // per thread: stored to memory because registers ran out
};

/// Return resources by the kernel's name without namespaces, template arguments and parameters. If several kernels have
/// the same name, return their maximum.
std::map<std::string, KernelResources> read_resource_report(const std::string& report);

/// Return a kernel's name as in the report: "histogram_kernel" for "ours::histogram_kernel<256, int>".
std::string plain_kernel_name(std::string name);

}  // namespace warplab
