#pragma once
// Check mode as part of the verdict: small datasets run once more with every access watched. The judge is told of each
// finding as it happens, so none can be taken back. But what watches lives in the student's own process, where code bent
// on it can put it out of action first, or behave while it is watched: check mode is there to find mistakes.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/judge/check.h"
#include "grader/judge/counters.h"

namespace warplab {

/// Whether check mode takes the dataset on by itself: public, for this stage, and done within about a second.
bool small_enough(const StageRun& run, const Dataset& dataset);

/// One thread runs all blocks, so that what is found does not depend on the machine's cores.
void prepare_for_check_mode(StageRun& run);

/// What was counted since the last call, for the dataset that ran then.
Counted take_counts(StageRun& run, const Dataset& dataset);

struct Watched {
    CheckMode result;
    std::vector<std::string> unused_techniques;  // limits of the stage that a right solution broke, in words
};

/// Runs what is small enough of `datasets`, on a stage compiled for check mode from `source`. `until_found`: stops at
/// the first finding that is no note, for a stage that failed anyway. `wall_s` is left for the caller to set.
Watched run_check_mode(StageRun& run, const std::vector<const Dataset*>& datasets,
                         const std::filesystem::path& source, bool until_found,
                         const std::function<void(const std::string&)>& doing);

/// What depends on the order of threads, or wrote out of bounds, gets the hint of the first finding, which knows the
/// memory and the line.
void explain_by_findings(std::vector<Check>& checks, const std::vector<Discovery>& findings);

/// Why there is no check mode of a file that compiled otherwise. What the CPU backend refuses costs nothing where a
/// GPU judged the outputs.
CheckMode without_check_mode(const Compilation& compilation, Backend judged_on);

}  // namespace warplab
