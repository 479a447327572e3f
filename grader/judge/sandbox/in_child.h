#pragma once
// Runs a computation of the judge on data of a submission in a child process: if the data crashes the computation or
// keeps it busy, the judge loses only the result.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplab {

/// Return the result of `compute`. Return nothing if it throws or crashes, if its result exceeds 1 MB, or if it takes
/// longer than `limit_s` (on a busy machine, up to four times as long). The child works on a copy of the judge's
/// memory; its changes are lost.
std::optional<std::vector<std::string>> compute_in_child(double limit_s,
                                                         const std::function<std::vector<std::string>()>& compute);

}  // namespace warplab
