#pragma once
// Computes in a child process of the judge. The judge's own code runs there on data that a submission chose: numbers
// that crash it or keep it busy cost only the result, not the judge.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplab {

/// Return what `compute` returns, at most 1 MB in all. Return nothing if it throws, crashes, or takes longer than
/// `limit_s`. The child sees the judge's memory as it is now; what it changes is lost.
std::optional<std::vector<std::string>> compute_in_child(double limit_s,
                                                         const std::function<std::vector<std::string>()>& compute);

}  // namespace warplab
