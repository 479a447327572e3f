#include "grader/judge/settle.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/model/cause.h"
#include "grader/model/score.h"

namespace warplab {
namespace {

/// Return the failure of a file that nvcc compiles as a refusal by the CPU backend, so that a GPU decides its points.
Failure left_to_gpu(const Failure& failure) {
    return {cause::refused_feature,
            fmt::format("This file cannot run on the CPU backend; nvcc compiles it. {}", failure.message),
            "Grading on a GPU (BACKEND=cuda) decides. You can also solve the stage without this feature.",
            failure.place};
}

Compilation settle_compilation(const Evidence& evidence) {
    Compilation compilation = evidence.compilation;
    compilation.nvcc = evidence.nvcc;
    const bool compiles = evidence.nvcc.answer == NvccAnswer::Answer::compiles;
    if (evidence.refused && compiles && compilation.failure->cause != cause::refused_feature)
        compilation.failure = left_to_gpu(*compilation.failure);
    return compilation;
}

Verdict settle_verdict(const StageReport& report) {
    if (report.error) return Verdict::error;
    if (report.checks.empty() && report.compilation.verdict != Verdict::passed) return report.compilation.verdict;
    const Verdict of_outputs = verdict_of(report.checks);
    return of_outputs == Verdict::passed && first_finding(report) ? Verdict::failed : of_outputs;
}

std::vector<std::string> settle_notes(const StageReport& report, const Evidence& evidence,
                                      const std::string& only_dataset) {
    std::vector<std::string> notes;
    for (const LimitOutcome& limit : evidence.limits)
        if (!limit.held() && !outputs_failed(report)) notes.push_back(limit_words(limit));
    if (evidence.timed.reference_does_not_compile)
        notes.push_back("The reference solution does not compile here, so it was not timed alongside.");
    if (!only_dataset.empty())
        notes.push_back(fmt::format("Not scored: only the dataset {} was asked for.", only_dataset));
    return notes;
}

}  // namespace

Failure internal_error(const std::string& what) { return {cause::internal, what, "This is not the student's fault."}; }

StageReport settle(StageReport report, const Stage& stage, const Evidence& evidence, const std::string& only_dataset) {
    report.compilation = settle_compilation(evidence);
    report.check_mode = evidence.sanitizer;
    report.checks =
        with_hints(evidence.checks, report.check_mode ? report.check_mode->findings : std::vector<Finding>());
    if (evidence.timed.failed) report.checks.push_back(*evidence.timed.failed);
    report.measurements = evidence.timed.measurements;
    report.error = evidence.error ? evidence.error : evidence.timed.error;
    report.output = evidence.output;
    report.notes = settle_notes(report, evidence, only_dataset);
    report.verdict = settle_verdict(report);
    if (only_dataset.empty() && report.verdict != Verdict::error) report.score = score_stage(stage, report);
    return report;
}

CheckMode settle_sanitizer(const Sanitized& found) {
    using enum CheckMode::Verdict;
    const auto ran = [](const Check& check) { return !check.skipped; };
    const auto failed_one = [](const Check& check) { return !check.skipped && check.verdict != Verdict::passed; };
    const auto first_failed = std::ranges::find_if(found.checks, failed_one);
    CheckMode result;
    result.datasets = static_cast<int>(std::ranges::count_if(found.checks, ran));
    result.findings = found.findings;
    result.verdict = passed;
    if (first_serious(found.findings)) {
        result.verdict = failed;
    } else if (first_failed != found.checks.end()) {
        result.verdict = first_failed->verdict == Verdict::error ? error : unconfirmed;
        result.remark = fmt::format("check mode could not finish {}", first_failed->dataset);
        if (first_failed->failure) result.remark += ": " + first_failed->failure->message;
    } else if (!found.doubt.empty()) {
        result.verdict = unconfirmed;
        result.remark = "unconfirmed, for an instructor to review: " + found.doubt;
    } else if (result.datasets == 0) {
        result.remark = "given without check mode: no dataset here is small enough for it";
    }
    return result;
}

CheckMode settle_sanitizer(const Compilation& compilation) {
    CheckMode result;
    const std::string why = compilation.failure ? compilation.failure->message : "it could not be compiled.";
    if (compilation.verdict == Verdict::failed) {
        result.verdict = CheckMode::Verdict::unconfirmed;
        result.remark = "unconfirmed: check mode, which runs on the CPU backend, cannot take this file. " + why;
    } else {
        result.remark = "check mode could not be compiled: " + why;
    }
    return result;
}

std::vector<Check> with_hints(std::vector<Check> checks, const std::vector<Finding>& findings) {
    const Finding* const first = first_serious(findings);
    if (!first || first->hint.empty()) return checks;
    const bool strays = first->cause == cause::out_of_bounds && first->line > 0;
    for (Check& check : checks) {
        if (!check.failure) continue;
        const bool damage = strays && check.failure->cause == cause::out_of_bounds_write;
        if (!damage && check.failure->cause != cause::race) continue;
        check.failure->hint = strays ? fmt::format("Line {} uses memory that is not its own: fix that first. {}",
                                                   first->line, first->hint)
                                     : first->hint;
    }
    return checks;
}

}  // namespace warplab
