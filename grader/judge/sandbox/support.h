#pragma once
// Determines once which sandbox levels this machine supports.

#include "grader/judge/sandbox/bubblewrap.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::sandbox {

struct Support {
    SandboxSupport offered;
    BubblewrapStyle style = {};
};

/// Return what this machine supports. The first call runs /bin/true at each level, the strongest first, until one
/// works.
const Support& support();

}  // namespace warplab::sandbox
