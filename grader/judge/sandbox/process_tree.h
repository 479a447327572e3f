#pragma once
// A child and everything it started, where no pid namespace holds them together (yet). Processes whose parent has ended
// become children of the judge: at level `uid` they are known by their user, else by a mark in their environment.

#include <sys/types.h>

#include <map>
#include <string>

namespace warplab::sandbox {

inline constexpr const char* mark_name = "WARPLAB_RUN";

/// Makes orphaned grandchildren children of the judge. Once per process.
void adopt_orphans();

/// NAME=value to start the child with; different for every child.
std::string new_mark();

/// Kills what a child that has ended left behind: the orphans with its mark, and all below them.
void kill_tree(const std::string& mark);

/// Seconds that the threads of a living process tree ran, and seconds that each was ready to run but did not.
struct ProcessorTime {
    double used_s = 0;
    std::map<pid_t, double> waited_s;
};
ProcessorTime processor_time(pid_t root);

/// Whether other processes starved a process tree between two moments that lie `seconds` apart: it used less than half
/// a processor, and one of its threads was ready to run for half of the time without getting one.
bool was_starved(const ProcessorTime& before, const ProcessorTime& now, double seconds);

/// Sends a signal to a living process and all below it, parents first.
void signal_tree(pid_t root, int signal);

/// Waits for the orphans of a user, all of which have been killed: until then they count against the user's limit.
void reap_orphans(uid_t user);

}  // namespace warplab::sandbox
