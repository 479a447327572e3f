#pragma once
// Maps program counters of a runner to lines of the student's file.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab {

/// Return "file.cu:31" for each program counter, relative to the load address, that lies in the student's file. If
/// functions are inlined, this is the innermost line in a .cu file. Runs addr2line within the sandbox, because the
/// debug information comes from the student's file.
std::map<std::uint64_t, std::string> find_source_lines(const std::filesystem::path& runner, Policy policy,
                                                       const std::vector<std::uint64_t>& program_counters);

/// Return "file.cu:31" from a line of addr2line's output, such as "file.cu:31 (discriminator 2)"; empty if it names no
/// .cu file. The name can contain spaces.
std::string place_in(const std::string& line);

}  // namespace warplab
