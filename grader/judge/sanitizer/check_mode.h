#pragma once
// The sanitizer as part of the verdict: small datasets run once more, in the same program, with the sanitizer on. It
// runs in the submission's own process, so the judge checks its findings against its own knowledge (doubts.h).
// SANDBOX.md lists the remaining gaps.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/check/check.h"
#include "grader/judge/sanitizer/counters.h"

namespace warplab {

/// Return whether the sanitizer inspects the dataset by default: it is public, applies to this stage, and takes at most
/// about a second.
bool small_enough(const StageRun& run, const Dataset& dataset);

/// Return the counts since the last call, for the dataset that ran in between.
Counted take_counts(StageRun& run, const Dataset& dataset);

struct Watched {
    CheckMode result;
    std::vector<std::string> unused_techniques;  // limits of the stage that a correct solution exceeded, in words
};

/// The launches of each call without the sanitizer, by dataset.
using LaunchDigests = std::map<std::string, std::vector<std::uint64_t>>;

/// The datasets of each sanitizer process, in order.
using Parts = std::vector<std::vector<const Dataset*>>;

/// Split the datasets that are small enough for the sanitizer, in order, into at most two parts of about equal cost.
Parts split_small(const StageRun& run, const std::vector<const Dataset*>& datasets);

/// Run the parts at the same time, each in one process. `expected`: the earlier launches of passed datasets on the same
/// backend. `until_found`: stop at the first finding that is not a note, for a stage that has already failed. `doing`
/// is called from several threads, but not at the same time. The caller sets `wall_s`.
Watched run_check_mode(StageRun& run, const Parts& parts, const LaunchDigests& expected,
                       const std::filesystem::path& source, bool until_found,
                       const std::function<void(const std::string&)>& doing);

/// Give the hint of the first finding, which knows the memory and the line, to failed checks whose cause depends on the
/// order of threads or is an out-of-bounds write.
void explain_by_findings(std::vector<Check>& checks, const std::vector<Finding>& findings);

/// Return the result for a file that nvcc compiles but the CPU backend refuses: unconfirmed, with the reason.
CheckMode without_check_mode(const Compilation& compilation);

}  // namespace warplab
