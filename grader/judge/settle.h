#pragma once
// Turns the results of the judge's steps into a stage's report. Only this part decides the verdicts of a stage and of
// the sanitizer, and selects the explanation of a failure if two steps have one.

#include <optional>
#include <string>
#include <vector>

#include "grader/judge/sanitizer/run.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// The results of the timing.
struct Timed {
    std::vector<Measurement> measurements;
    std::optional<Check> failed;   // a dataset whose timed outputs are wrong, or whose timing the code prevented
    std::optional<Failure> error;  // an error of the judge, or impossible times
    bool reference_does_not_compile = false;
};

/// The results of the steps. Each step adds its own part and changes no other.
struct Evidence {
    Compilation compilation;
    bool refused = false;  // Compiled::refused
    NvccAnswer nvcc;
    std::optional<Failure> starter;  // for a file that has not been edited: the reason for every wrong output
    std::vector<Check> checks;
    std::optional<SanitizerResult> sanitizer;
    std::vector<LimitOutcome> limits;  // the stage's limits, if the sanitizer passed
    Timed timed;
    std::string narrow_index, idle_threads;  // notes
    std::string output;
    std::optional<Failure> error;  // an error of the judge
};

/// Return an error of the judge itself.
Failure internal_error(const std::string& what);

/// Complete a report that names the stage and its source. `only_dataset`: the only dataset requested; empty if all
/// were.
StageReport settle(StageReport report, const Stage& stage, const Evidence& evidence, const std::string& only_dataset);

/// Return the sanitizer's result: its verdict, with the findings and a remark.
SanitizerResult settle_sanitizer(const Sanitized& sanitized);
/// Return the sanitizer's result for a file that does not compile for the sanitizer. The verdict is unconfirmed if the
/// file is the reason, and error if the judge is.
SanitizerResult settle_sanitizer(const Compilation& compilation);

/// Return the checks with one explanation for each failure. If a failure only describes the output, the explanation is
/// the first finding that can be its reason, because a finding names the memory and the line.
std::vector<Check> with_explanations(std::vector<Check> checks, const std::vector<Finding>& findings,
                                     const Compilation& compilation);

}  // namespace warplab
