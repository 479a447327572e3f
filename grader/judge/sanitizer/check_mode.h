#pragma once
// Check mode as part of the verdict: small datasets run once more, in the same program, with the sanitizer on. It runs
// in the submission's own process, so the judge checks its findings against its own knowledge (doubts.h). SANDBOX.md
// lists the remaining gaps.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/check/check.h"
#include "grader/judge/sanitizer/counters.h"

namespace warplab {

/// Whether check mode takes the dataset on by itself: public, for this stage, and done within about a second.
bool small_enough(const StageRun& run, const Dataset& dataset);

/// What was counted since the last call, for the dataset that ran then.
Counted take_counts(StageRun& run, const Dataset& dataset);

struct Watched {
    CheckMode result;
    std::vector<std::string> unused_techniques;  // limits of the stage that a right solution broke, in words
};

/// The launches of each call without the sanitizer, by dataset.
using LaunchDigests = std::map<std::string, std::vector<std::uint64_t>>;

/// The datasets of each process of check mode, in order.
using Parts = std::vector<std::vector<const Dataset*>>;

/// Split the datasets that are small enough for check mode, in order, into at most two parts of about equal cost.
Parts split_small(const StageRun& run, const std::vector<const Dataset*>& datasets);

/// Runs the parts at the same time, each in one process. `expected`: the earlier launches of passed datasets on the
/// same backend. `until_found`: stops at the first finding that is not a note, for a stage that failed anyway. `doing`
/// is called from several threads, but not at the same time. The caller sets `wall_s`.
Watched run_check_mode(StageRun& run, const Parts& parts, const LaunchDigests& expected,
                       const std::filesystem::path& source, bool until_found,
                       const std::function<void(const std::string&)>& doing);

/// What depends on the order of threads, or wrote out of bounds, gets the hint of the first finding, which knows the
/// memory and the line.
void explain_by_findings(std::vector<Check>& checks, const std::vector<Discovery>& findings);

/// The result for a file that nvcc compiles but the CPU backend refuses: unconfirmed, with the reason.
CheckMode without_check_mode(const Compilation& compilation);

}  // namespace warplab
