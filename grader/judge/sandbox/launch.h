#pragma once
// Starts one program, and sets all its properties between clone and exec. The child shares the judge's memory until it
// execs (as with posix_spawn), so that a judge with gigabytes of memory starts programs as fast as a small one.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/judge/sandbox/seccomp.h"

namespace warplab::sandbox {

struct Launch {
    std::vector<std::string> argv;         // argv[0] is the path of the program
    std::vector<std::string> environment;  // NAME=value
    std::string working_directory;
    std::vector<int> descriptors;  // become 0, 1, 2, …; all others are closed
    std::vector<std::pair<int, rlim_t>> limits;
    std::vector<int> cgroup_files;  // of the groups to join
    std::optional<uid_t> uid;       // permanently becomes this user and group
    bool no_new_privileges = false;
    int landlock = -1;                  // a ruleset
    std::uint64_t own_proc_access = 0;  // rights in that ruleset, below the child's own entry of /proc
    const SeccompFilter* filter = nullptr;
};

/// Start the program and return the child's pid. If a step fails, return -1 and name the step in `start_error`. The
/// child has an empty session keyring, leads its own session and process group, and is killed when the calling thread
/// ends.
pid_t launch(const Launch& program, std::string& start_error);

}  // namespace warplab::sandbox
