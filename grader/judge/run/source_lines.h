#pragma once
// From program counters of a runner to lines of the student's file.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab {

/// "file.cu:31" for each program counter, relative to the load address, that lies in the student's file; of inlined
/// functions the innermost. Asked of addr2line within the sandbox: the debug information is the student's.
std::map<std::uint64_t, std::string> find_source_lines(const std::filesystem::path& runner, Policy policy,
                                                       const std::vector<std::uint64_t>& program_counters);

}  // namespace warplab
