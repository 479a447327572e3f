#pragma once
// Level `namespaces`: the arguments of bubblewrap around a program.

#include <string>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// How this machine lets bubblewrap start.
enum class BubblewrapStyle {
    user_first,  // an ordinary user (or, as root, the unused user from the start), in a user namespace of its own
    root_first,  // root mounts, then the program becomes the unused user: sees folders below a closed /root
};

/// Numbers of descriptors in bubblewrap.
struct BubblewrapDescriptors {
    int status;     // bubblewrap reports here
    int filter;     // bubblewrap reads the system call filter here
    int arguments;  // bubblewrap reads its arguments here: the program can read its command line, so that has no paths
};

struct BubblewrapCommand {
    std::vector<std::string> words;
    std::string arguments;  // each ends with a zero
};

/// `user` is the unused user (root only, else -1).
BubblewrapCommand bubblewrap_command(BubblewrapStyle style, const std::vector<std::string>& program,
                                     const Policy& policy, const std::string& working_directory, int user,
                                     const BubblewrapDescriptors& descriptors);

/// Whether bubblewrap got as far as starting the program, by what it reported.
bool bubblewrap_started(const std::string& status_text);

/// What on this machine usually keeps bubblewrap from working, as words with what to do; `said` is its own message.
std::string why_no_bubblewrap(const std::string& said);

}  // namespace warplab::sandbox
