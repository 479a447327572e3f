#pragma once
// Turns a policy's limits into values for the kernel.

#include <sys/resource.h>

#include <utility>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// Return the number of processes and threads allowed. It includes one more thread per core, so that thread pools work
/// on large machines. `own_count`: only the sandbox's own processes count; otherwise all that run on the machine now
/// are added.
rlim_t process_limit(const Limits& limits, bool own_count);

/// Whether the kernel counts a user's processes separately in each user namespace (Linux 5.14).
bool user_namespaces_count_apart();

/// Return all limits except processes and wall-clock time.
std::vector<std::pair<int, rlim_t>> resource_limits(const Limits& limits);

}  // namespace warplab::sandbox
