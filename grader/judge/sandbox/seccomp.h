#pragma once
// The allow list of system calls for sandboxed programs at both levels, built with libseccomp. The kernel answers every
// other call as if it did not exist.

#include <linux/filter.h>

#include <vector>

#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

using SeccompFilter = std::vector<sock_filter>;

/// Return the filter for a policy's activity. The compiler may start programs; the runner may start only threads, so
/// that it remains a single process. `gpu`: the runner may also make the calls of the GPU's driver. Throws
/// std::runtime_error if libseccomp cannot build the filter.
const SeccompFilter& seccomp_filter(Activity activity, bool gpu);

}  // namespace warplab::sandbox
