#pragma once
// The verbs of `warplab VERB …`. Each returns the exit status: 0 all passed, 1 something failed, 2 an error of the
// judge. Misuse is a UsageError, a mistake in a lab's files a ManifestError.

#include <string>
#include <vector>

#include "grader/judge/options.h"
#include "grader/model/backend.h"

namespace warplab {

struct Lab;

int list_labs(const Options& options);
int start(const Options& options);
int check(const Options& options);
int watch(const Options& options);
int bench(const Options& options);
int grade(const Options& options);
int compile_for_grading(const Options& options);
int measure_baselines(const Options& options);
int sweep(const Options& options);
int show_device(const Options& options);
int profile(const Options& options);
int sanitize(const Options& options);
int inspect(const Options& options);
int peers(const Options& options);
int show(const Options& options);
int import(const Options& options);
int prepare_harness(const Options& options);
int print_flags(const Options& options);

/// Return the requested lab, or all labs if none was requested.
std::vector<std::string> requested_labs(const Options& options);

/// Check the options before anything is copied or compiled. Throws UsageError, with the available names, if stage,
/// dataset, --source or --tree does not exist or the dataset cannot run on this backend.
void check_names(const Lab& lab, const Options& options, Backend backend);

}  // namespace warplab
