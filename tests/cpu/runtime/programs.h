#pragma once
// Builds the targets of programs.mk: the CUDA programs in this folder, and the runtime that they are linked with.

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/paths.h"

namespace warplab::test {

struct CommandResult {
    int status = -1;
    std::string output;
};

/// Run a shell command in the project's folder. The output includes stderr.
inline CommandResult run(const std::string& command) {
    CommandResult result;
    FILE* pipe = popen(("cd '" + root_folder().string() + "' && " + command + " 2>&1").c_str(), "r");
    if (!pipe) return result;
    char part[4096];
    while (const size_t bytes = fread(part, 1, sizeof(part), pipe)) result.output.append(part, bytes);
    const int status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

inline std::filesystem::path programs_folder() { return build_folder() / "cpu/runtime-tests"; }

/// Build outdated targets. Tests run in several processes, but only one builds at a time.
inline CommandResult build_programs(const std::string& target) {
    std::filesystem::create_directories(programs_folder());
    const std::string folder = std::filesystem::relative(build_folder(), root_folder()).string();
    return run("flock '" + (programs_folder() / "lock").string() +
               "' env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -f tests/cpu/runtime/programs.mk BUILD='" + folder + "' " +
               target);
}

}  // namespace warplab::test
