#pragma once
// Writes the failures of calls: cause, message and hint. Each failure is written once, when everything is known.

#include "grader/judge/check/call.h"

namespace warplab {

/// Return the failure for every error of a call except a wrong output.
Failure describe_failed_call(StageRun& run, const Trial& trial, const CallResult& result, const Poison& poison);

/// Return the explanation of a wrong output that follows from this call alone.
Failure explain_output(StageRun& run, const Trial& trial, const CallResult& result, const Poison& poison);

/// Return the failure for a wrong output: `plain` is explain_output()'s explanation.
Failure describe_wrong_output(const StageRun& run, const Trial& trial, const CallResult& result, const Failure& plain,
                              const Dependence& dependence);

/// Add what experiments showed to the failure of an unexplained output.
Failure describe_experiments(const Failure& plain, const std::string& results);

/// Return whether no particular mistake explains the output.
bool is_unexplained(const Failure& plain);

/// Return the properties of a call on which the message about its failure depends.
Circumstances circumstances_of(const StageRun& run, const Problem& problem);

/// Return the failure of a call of the host function.
Failure describe_host_function_failure(const Lab& lab, const Failure& failure);
Failure describe_missing_host_function(const Lab& lab);

/// Return the failure of a program that needs more memory than the reference. `skipped_why`: why the dataset was
/// skipped.
Failure describe_excess_memory(const std::string& skipped_why);

/// Return the error for a dataset on which the reference fails, too.
Failure describe_reference_failure(const Failure& of_reference);
Failure describe_internal_error(const std::string& what);

}  // namespace warplab
