#pragma once
// A child and all processes that it started, if they are not (yet) in a common pid namespace. Processes whose parent
// has ended become children of the judge. At level `uid` they are identified by their user, otherwise by a mark in
// their environment.

#include <sys/types.h>

#include <map>
#include <string>

namespace warplab::sandbox {

inline constexpr const char* mark_name = "WARPLAB_RUN";

/// Make orphaned descendants children of the judge from now on.
void adopt_orphans();

/// Return an environment variable, NAME=value, that marks a child. Each call returns a different value.
std::string new_mark();

/// Kill the processes that an ended child left: the orphans with its mark, and all their descendants.
void kill_tree(const std::string& mark);

/// The processor time of a living process tree, including ended threads, and for each living thread the seconds for
/// which it was ready but did not run.
struct ProcessorTime {
    double used_s = 0;
    std::map<pid_t, double> waited_s;
};
ProcessorTime processor_time(pid_t root);

/// Return whether other processes starved a process tree between two measurements `seconds` apart: the tree used less
/// than half a processor, and one of its threads was ready to run for half of the time without getting one.
bool was_starved(const ProcessorTime& before, const ProcessorTime& now, double seconds);

/// Send a signal to a living process and all its descendants, parents first.
void signal_tree(pid_t root, int signal);

/// Stop a living process and all its descendants, and wait until none of their threads runs, for at most a second: a
/// process stops only when one of its threads gets a processor.
void stop_tree(pid_t root);

/// Reap a user's orphans, all of which have been killed. Until they are reaped, they count towards the user's limit.
void reap_orphans(uid_t user);

}  // namespace warplab::sandbox
