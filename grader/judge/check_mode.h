#pragma once
// Check mode as part of the verdict: small datasets run once more, in the same program, with the sanitizer on. It runs
// in the submission's own process, so what it says is held against what the judge knows (doubts.h). What remains open
// is listed in SANDBOX.md.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/check.h"
#include "grader/judge/counters.h"

namespace warplab {

/// Whether check mode takes the dataset on by itself: public, for this stage, and done within about a second.
bool small_enough(const StageRun& run, const Dataset& dataset);

/// What was counted since the last call, for the dataset that ran then.
Counted take_counts(StageRun& run, const Dataset& dataset);

struct Watched {
    CheckMode result;
    std::vector<std::string> unused_techniques;  // limits of the stage that a right solution broke, in words
};

/// The launches of each call, by dataset, as they were without the sanitizer.
using LaunchDigests = std::map<std::string, std::vector<std::uint64_t>>;

/// Runs `datasets`, each small enough, one after the other in one process. `expected`: what passed datasets launched
/// before, on the same backend. `until_found`: stops at the first finding that is no note, for a stage that failed
/// anyway. `wall_s` is left for the caller to set.
Watched run_check_mode(StageRun& run, const std::vector<const Dataset*>& datasets, const LaunchDigests& expected,
                       const std::filesystem::path& source, bool until_found,
                       const std::function<void(const std::string&)>& doing);

/// What depends on the order of threads, or wrote out of bounds, gets the hint of the first finding, which knows the
/// memory and the line.
void explain_by_findings(std::vector<Check>& checks, const std::vector<Discovery>& findings);

/// Why there is no check mode of a file that a GPU's compiler takes: unconfirmed when the CPU backend refuses it.
CheckMode without_check_mode(const Compilation& compilation);

}  // namespace warplab
