#pragma once
// The arguments with which bubblewrap runs a program at the level `namespaces`.

#include <string>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// The way to start bubblewrap that works on this machine.
struct BubblewrapStyle {
    // true: bubblewrap starts as root, and the program becomes the unused user only after the mounts, so that folders
    // below a closed /root can be mounted. false: bubblewrap starts as an ordinary user (if the judge is root: as the
    // unused user), in a separate user namespace.
    bool root_first = false;
    bool has_size = true;  // knows the option --size: version 0.7 added it; Ubuntu 22.04 has 0.6
};

/// Numbers of descriptors in bubblewrap.
struct BubblewrapDescriptors {
    int status;     // bubblewrap reports here
    int filter;     // bubblewrap reads the system call filter here
    int arguments;  // bubblewrap reads its arguments here. The program can read bubblewrap's command line, which must
                    // therefore contain no paths.
};

struct BubblewrapCommand {
    std::vector<std::string> words;
    std::string arguments;  // each ends with a null character
};

/// Return the command that runs a program in a sandbox. `user`: the unused user if the judge is root; otherwise -1.
BubblewrapCommand bubblewrap_command(const BubblewrapStyle& style, const std::vector<std::string>& program,
                                     const Policy& policy, const std::string& working_directory, int user,
                                     const BubblewrapDescriptors& descriptors);

/// Return whether bubblewrap started the program, according to its status report.
bool bubblewrap_started(const std::string& status_text);

/// Return the most likely reason why bubblewrap does not work on this machine, and a remedy. `output` is what
/// bubblewrap printed.
std::string why_no_bubblewrap(const std::string& output);

}  // namespace warplab::sandbox
