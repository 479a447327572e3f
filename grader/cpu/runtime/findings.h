#pragma once
// What check mode has found, in the status page where the judge reads it.

#include "grader/io/status_page.h"

namespace warplab_cpu {

/// Adds a finding, or one more to its like: the same kind at the same places.
void record_finding(const warplab::Finding& finding);

}  // namespace warplab_cpu
