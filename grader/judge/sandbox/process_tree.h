#pragma once
// A child and everything it started, if no pid namespace holds them together (yet). Processes whose parent has ended
// become children of the judge: at level `uid` they are identified by their user, else by a mark in their environment.

#include <sys/types.h>

#include <map>
#include <string>

namespace warplab::sandbox {

inline constexpr const char* mark_name = "WARPLAB_RUN";

/// Make orphaned grandchildren children of the judge. Call it once per process.
void adopt_orphans();

/// Return NAME=value to start the child with; different for every child.
std::string new_mark();

/// Kill the processes that an ended child left behind: the orphans with its mark, and all below them.
void kill_tree(const std::string& mark);

/// Seconds that a living process tree ran, with its ended threads, and for each living thread the seconds that it was
/// ready but did not run.
struct ProcessorTime {
    double used_s = 0;
    std::map<pid_t, double> waited_s;
};
ProcessorTime processor_time(pid_t root);

/// Return whether other processes starved a process tree between two measurements `seconds` apart: the tree used less
/// than half a processor, and one of its threads was ready to run for half of the time without getting one.
bool was_starved(const ProcessorTime& before, const ProcessorTime& now, double seconds);

/// Send a signal to a living process and all below it, parents first.
void signal_tree(pid_t root, int signal);

/// Wait for a user's orphans, all of which have been killed: until they are reaped, they count against the user's
/// limit.
void reap_orphans(uid_t user);

}  // namespace warplab::sandbox
