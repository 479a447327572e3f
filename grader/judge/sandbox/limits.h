#pragma once
// Turns a policy's limits into values for the kernel.

#include <sys/resource.h>

#include <utility>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// The processes that the kernel counts for a limit: only the sandbox's, or all of the user who runs it.
enum class Counted { own_processes, all_processes };

/// Return the number of processes and threads allowed. It includes one more thread per core, so that thread pools work
/// on large machines. If the kernel counts all processes of the user, the number of all tasks on the machine is added.
rlim_t process_limit(const Limits& limits, Counted counted);

/// Return which processes the kernel counts for a limit in a user namespace: since Linux 5.14, those of the namespace.
Counted counted_in_user_namespace();

/// Return the kernel's limits on memory, files, core dumps, pending signals and descriptors.
std::vector<std::pair<int, rlim_t>> resource_limits(const Limits& limits);

}  // namespace warplab::sandbox
