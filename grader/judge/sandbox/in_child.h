#pragma once
// Runs a computation in a child process of the judge. The judge's own code processes data there that a submission
// chose: if the data crashes the code or keeps it busy, only the result is lost, not the judge.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplab {

/// Return the result of `compute`, at most 1 MB in total. Return nothing if it throws, crashes, or takes longer than
/// `limit_s`. The child sees the judge's memory as it is now; its changes are lost.
std::optional<std::vector<std::string>> compute_in_child(double limit_s,
                                                         const std::function<std::vector<std::string>()>& compute);

}  // namespace warplab
