#pragma once
// Runs a student's code on a dataset and compares its outputs in the judge's buffers with the oracle's answers.

#include <string>

#include "grader/judge/check/stage_run.h"

namespace warplab {

/// Return the reason why a dataset cannot run on this backend; empty if it can.
std::string why_not_on_this_backend(const StageRun& run, const Dataset& dataset);

/// Check one dataset: call the function twice, the second time with stale outputs, with other inputs (unless the
/// dataset is large) and, on the CPU backend, with another thread order. A huge dataset gets only the first call. An
/// error, or a skip for lack of memory, counts only if the stage's reference has the same result, because code can
/// cause both on purpose, by its exit status or by hoarding memory. Otherwise, the check fails.
Check check_dataset(StageRun& run, const Dataset& dataset);

/// Generate the problems that check_dataset() will need, and solve them. Do nothing for the datasets that need a GPU:
/// they are too large to keep.
void solve_for_check(KnownProblems& known, const Oracle& oracle, const Lab& lab, const Dataset& dataset);

/// Return the check of a dataset that was skipped, or that failed.
Check skipped_check(const Dataset& dataset, const std::string& reason);
Check failed_check(const Dataset& dataset, const Failure& failure);

}  // namespace warplab
