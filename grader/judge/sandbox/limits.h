#pragma once
// A policy's limits as the kernel takes them.

#include <sys/resource.h>

#include <utility>
#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

/// Processes and threads allowed. One thread per core comes on top, so that thread pools work on large machines.
/// `own_count`: nobody else's processes count; otherwise all that run on the machine now are added.
rlim_t process_limit(const Limits& limits, bool own_count);

/// Whether the kernel counts a user's processes in each user namespace apart (Linux 5.14).
bool user_namespaces_count_apart();

/// Everything but processes and wall-clock time.
std::vector<std::pair<int, rlim_t>> resource_limits(const Limits& limits);

}  // namespace warplab::sandbox
