#pragma once
// Splits kernels at their barriers: each part between two barriers becomes a loop over the block's threads, so that no
// thread has to wait for another. OUTPUT.md shows the result and lists the kernels that are not split.

#include <string_view>
#include <unordered_map>

#include "grader/cpu/rewriter/edits.h"
#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {

/// Return the edits within the body of each kernel that can be split, by the position of its {.
std::unordered_map<int, Edits> find_splits(const Context& context, std::string_view source);

}  // namespace warplab::rewriter
