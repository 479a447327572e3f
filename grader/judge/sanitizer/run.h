#pragma once
// Runs small datasets once more, in the same program, with the sanitizer on. The sanitizer runs in the submission's own
// process, so the judge compares the findings with what it knows itself (doubts.h). SANDBOX.md lists the remaining
// gaps.

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/judge/check/check.h"
#include "grader/judge/compile/source.h"
#include "grader/judge/sanitizer/counts.h"

namespace warplab {

/// For each dataset, a digest of the launches of each call without the sanitizer.
using LaunchDigests = std::map<std::string, std::vector<std::uint64_t>>;

/// The datasets of each sanitizer process, in order.
using Parts = std::vector<std::vector<const Dataset*>>;

/// Return whether the sanitizer can inspect a dataset, and in a few seconds.
bool is_quick(const StageRun& run, const Dataset& dataset);

/// Split the datasets that the sanitizer inspects by default, in order: those that are checked, need no GPU, apply to
/// this stage, and take at most about a second. Unless all of them are cheap, there are two parts of about equal cost.
Parts split_small(const StageRun& run, const std::vector<const Dataset*>& datasets);

struct SanitizerTask {
    enum class Stop {  // when to stop early; a deadlock always stops the run
        never,
        when_slow,  // at a dataset that fails after a long time: the others would take as long
        when_found  // also at the first finding that is not a note
    };
    Parts parts;
    Source source;
    Stop stop = Stop::never;
    bool outputs_failed = false;   // without the sanitizer
    bool counts_requests = false;  // on all datasets, and not only where the stage has limits
    LaunchDigests expected = {};   // of passed datasets on the same backend
    std::function<void(const std::string&)> doing = [](const std::string&) {};  // called by one thread at a time
    const std::atomic<bool>* cancelled = nullptr;                               // once true, the results are not needed
};

/// The results of the sanitizer.
struct Sanitized {
    std::vector<Check> checks;     // one per dataset that ran
    std::vector<Counted> counted;  // one per dataset that ran
    std::vector<Finding> findings;
    std::string doubt;  // the first reason not to trust the findings
    double wall_s = 0;
};

/// Run the parts at the same time, each in one process. The results are those up to the first part that stopped early.
Sanitized run_sanitizer(const StageRun& run, const SanitizerTask& task);

/// Return the first finding that is not a note; null if there is none.
const Finding* first_serious(const std::vector<Finding>& findings);

}  // namespace warplab
