#include "grader/judge/check_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grader/core/cause.h"
#include "grader/judge/findings.h"

namespace warplab {
namespace {

constexpr double most_bytes = 1 << 20;  // that a dataset has, times its iterations
constexpr double slow_s = 4;            // a dataset that failed after so long: the others would take as long

bool is_serious(const Discovery& found) { return !found.is_note; }

bool any_serious(const std::vector<Discovery>& found) { return std::any_of(found.begin(), found.end(), is_serious); }

}  // namespace

bool small_enough(const StageRun& run, const Dataset& dataset) {
    if (!dataset.uses.check || dataset.uses.cuda_only || !dataset.applies_to(run.stage)) return false;
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    double bytes = 0;
    for (const Array& array : problem.arrays) bytes += static_cast<double>(array.bytes());
    return bytes * std::max(1.0, run.oracle.cost(problem).iterations) <= most_bytes;
}

Counted take_counts(StageRun& run, const Dataset& dataset) {
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    return {dataset.name, std::exchange(run.counts, {}), std::exchange(run.launches, {}),
            run.oracle.cost(problem).bound_bytes * static_cast<double>(std::exchange(run.calls, 0))};
}

Watched run_check_mode(StageRun& run, const std::vector<const Dataset*>& datasets, const LaunchDigests& expected,
                       const std::filesystem::path& source, bool until_found,
                       const std::function<void(const std::string&)>& doing) {
    run.sanitizer = Sanitizer::on;
    Watched watched;
    CheckMode& result = watched.result;
    std::vector<Counted> counted;
    std::optional<Check> first_failed;
    for (const Dataset* dataset : datasets) {
        doing("check mode: " + dataset->name);
        const Check check = check_dataset(run, *dataset);
        if (until_found) run.end_session();  // returns its findings
        counted.push_back(take_counts(run, *dataset));
        const auto digests = std::exchange(run.launch_digests, {});
        const auto other = expected.find(dataset->name);
        if (other != expected.end() && check.verdict == Verdict::passed && other->second != digests &&
            run.doubt.empty())
            run.doubt = fmt::format("On {}, the program launches different kernels with the sanitizer than without.",
                                    dataset->name);
        if (check.skipped) continue;
        ++result.datasets;
        if (check.verdict != Verdict::passed && !first_failed) first_failed = check;
        if (check.verdict != Verdict::passed && check.wall_s > slow_s) break;
        if (until_found && any_serious(explain_findings(run, source, run.findings, false))) break;
    }
    run.end_session();
    result.findings = explain_findings(run, source, run.findings, !until_found && !first_failed);
    result.verdict = any_serious(result.findings) ? CheckMode::Verdict::failed : CheckMode::Verdict::passed;
    if (result.verdict == CheckMode::Verdict::passed && first_failed) {
        result.verdict =
            first_failed->verdict == Verdict::error ? CheckMode::Verdict::error : CheckMode::Verdict::unconfirmed;
        result.remark = fmt::format("check mode could not finish {}", first_failed->dataset);
        if (first_failed->failure) result.remark += ": " + first_failed->failure->message;
    } else if (result.verdict == CheckMode::Verdict::passed && !run.doubt.empty()) {
        result.verdict = CheckMode::Verdict::unconfirmed;
        result.remark = "unconfirmed, for an instructor to review: " + run.doubt;
    } else if (result.datasets == 0) {
        result.remark = "given without check mode: no dataset here is small enough for it";
    } else if (result.verdict == CheckMode::Verdict::passed) {
        for (const LimitOutcome& outcome : compare_with_limits(run.stage, counted))
            if (!outcome.held()) watched.unused_techniques.push_back(limit_words(outcome));
    }
    return watched;
}

void explain_by_findings(std::vector<Check>& checks, const std::vector<Discovery>& findings) {
    const auto first = std::find_if(findings.begin(), findings.end(), is_serious);
    if (first == findings.end() || first->hint.empty()) return;
    const bool strays = first->cause == "out_of_bounds" && first->line > 0;
    const std::string hint =
        strays ? fmt::format("Line {} uses memory that is not its own: mend that first. {}", first->line, first->hint)
               : first->hint;
    for (Check& check : checks) {
        if (!check.failure) continue;
        const bool damage = strays && check.failure->cause == cause::out_of_bounds_write;
        if (damage || check.failure->cause == cause::race) check.failure->hint = hint;
    }
}

CheckMode without_check_mode(const Compilation& compilation) {
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

}  // namespace warplab
