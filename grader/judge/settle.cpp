#include "grader/judge/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "grader/model/cause.h"
#include "grader/model/score.h"

namespace warplab {
namespace {

bool is_one_of(const std::string& cause, std::initializer_list<std::string_view> causes) {
    return std::ranges::find(causes, cause) != causes.end();
}

/// Return whether the failure only describes an output, or explains it with numbers taken from the output itself.
bool is_described(const Failure& failure) {
    return is_one_of(
        failure.cause,
        {cause::wrong_value, cause::wrong_result, cause::nan, cause::race, cause::never_written, cause::grid_too_small,
         cause::lost_counts, cause::lost_updates, cause::counted_too_often, cause::first_lost, cause::block_incomplete,
         cause::uninitialised, "counter_overflow", "all_full", "maximum_too_large"});
}

/// Return whether the failure says no more than that values are wrong, or counts too high or too low.
bool is_vague(const Failure& failure) {
    return is_one_of(failure.cause, {cause::wrong_value, cause::wrong_result, cause::nan, cause::lost_counts,
                                     cause::lost_updates, cause::counted_too_often});
}

/// If the first failure is vague, but two other public datasets agree on what is wrong, move the first of these to the
/// front: all readers of a report show the first failure. One dataset alone may be so small that it fits many mistakes.
/// If outputs change from call to call, an explanation of one of them may be wrong.
void put_clearest_failure_first(std::vector<Check>& checks) {
    const auto has_failed = [](const Check& check) { return check.failure && check.verdict == Verdict::failed; };
    const auto first = std::ranges::find_if(checks, has_failed);
    if (first == checks.end() || !is_vague(*first->failure)) return;
    if (std::ranges::any_of(
            checks, [&](const Check& check) { return has_failed(check) && check.failure->cause == cause::race; }))
        return;
    const auto is_clear = [&](const Check& check) {
        return has_failed(check) && !check.hidden && check.failure->place && !is_described(*check.failure);
    };
    const auto is_shared = [&](const Check& check) {
        return is_clear(check) && std::ranges::count_if(checks, [&](const Check& other) {
                                      return is_clear(other) && other.failure->cause == check.failure->cause;
                                  }) > 1;
    };
    const auto clearest = std::find_if(first, checks.end(), is_shared);
    if (clearest != checks.end()) std::rotate(first, clearest, clearest + 1);
}

/// Return whether a kernel reads the output whose elements seem to be unwritten: NaN plus a number is the same NaN.
bool reads_unwritten(const Failure& failure, const Finding& finding) {
    return finding.cause == cause::uninitialised && failure.place && finding.buffer == failure.place->buffer &&
           is_one_of(failure.cause, {"steps_too_far", "tail_lost", "rest_lost", "component_lost", "one_block_only",
                                     "last_element_lost", "vector_tail_lost"});
}

/// Return whether the finding, which names a line, is better evidence than the failure.
bool is_explained_by(const Failure& failure, const Finding& finding) {
    if (reads_unwritten(failure, finding)) return true;
    // A barrier that some threads miss leaves all results undefined.
    if (!finding.note && is_one_of(finding.cause, {cause::divergent_barrier, cause::return_before_barrier}))
        return !is_one_of(failure.cause,
                          {cause::crash, cause::illegal_instruction, cause::cuda_error, cause::host_memory,
                           cause::out_of_bounds_write, cause::out_of_memory, cause::timeout, cause::deadlock});
    const bool at_wrong_place =
        is_one_of(finding.cause, {cause::out_of_bounds, cause::use_after_free, cause::uninitialised, cause::host_memory,
                                  cause::misaligned, cause::copy_direction, cause::copy_size, cause::failed_launch,
                                  cause::device_memory});
    if (finding.cause == cause::kept_value) return is_one_of(failure.cause, {cause::kept_state, "stale_result"});
    if (finding.note) return is_described(failure) && matters_if_wrong(finding);
    if (failure.cause == cause::kept_state && is_one_of(finding.cause, {cause::race, cause::atomic_race})) return true;
    const bool is_counted_wrong =
        is_one_of(failure.cause, {"block_index_forgotten", "tail_twice", "counted_twice", "partials_lost", "bins_lost",
                                  "shared_not_cleared", "stale_shared", cause::bytes_not_elements});
    if (is_counted_wrong && finding.cause == cause::out_of_bounds) return true;
    const bool stops_threads = is_one_of(failure.cause, {cause::deadlock, cause::crash});
    if (stops_threads && finding.cause == cause::lane_mask) return true;
    if (failure.cause == cause::cuda_error && finding.cause == cause::invalid_free) return true;
    if (is_one_of(failure.cause, {cause::crash, cause::illegal_instruction, cause::cuda_error, cause::host_memory,
                                  cause::out_of_bounds_write}))
        return at_wrong_place;
    const bool at_wrong_time =
        is_one_of(finding.cause, {cause::race, cause::atomic_race, cause::unfinished_work, cause::lane_mask});
    const bool adds_nothing = is_one_of(failure.cause, {"nothing_added", "nothing_counted"});
    const bool loses_all = is_one_of(finding.cause, {cause::out_of_bounds, cause::use_after_free, cause::copy_size});
    // Results that other threads overwrite are lost; which of them remain depends on the order of the threads.
    const bool loses_results =
        is_one_of(failure.cause, {"lost_maximum", "one_cell_only", "one_block_only", "nothing_added", "nothing_counted",
                                  "share_lost", "last_lost"});
    const bool is_unloaded = is_one_of(failure.cause, {"halo_missing", "corner_missing", "tile_incomplete"});
    return (is_described(failure) && (at_wrong_place || at_wrong_time)) || (loses_results && at_wrong_time) ||
           (adds_nothing && loses_all) || (is_unloaded && finding.cause == cause::out_of_bounds);
}

/// Return the text of the compiler's warning about `warned_line`, in parentheses; an empty string if the log lacks it.
std::string warning_in(const Compilation& compilation) {
    constexpr std::string_view word = " warning: ";
    const std::string place = fmt::format(":{}:", compilation.warned_line);
    std::istringstream log(compilation.log);
    for (std::string line; std::getline(log, line);) {
        const std::size_t at = line.find(word);
        if (at != std::string::npos && line.substr(0, at).find(place) != std::string::npos)
            return " (" + line.substr(at + word.size()) + ")";
    }
    return "";
}

/// Return the failure of a file that nvcc compiles but the CPU backend cannot run, so that a GPU decides its points.
Failure decided_on_gpu(const Failure& failure) {
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
        compilation.failure = decided_on_gpu(*compilation.failure);
    return compilation;
}

Verdict settle_verdict(const StageReport& report) {
    if (report.error) return Verdict::error;
    if (report.checks.empty() && report.compilation.verdict != Verdict::passed) return report.compilation.verdict;
    const Verdict of_outputs = verdict_of(report.checks);
    return of_outputs == Verdict::passed && first_finding(report) ? Verdict::failed : of_outputs;
}

/// Return whether `check` shows a note of the sanitizer although the outputs are correct: threads repeat work, or break
/// a rule of CUDA.
bool is_noted(const Finding& finding) {
    return finding.note && !finding.hint.empty() &&
           is_one_of(finding.cause, {cause::same_value, cause::return_before_barrier});
}

std::vector<std::string> settle_notes(const StageReport& report, const Evidence& evidence,
                                      const std::string& only_dataset) {
    std::vector<std::string> notes;
    for (const LimitOutcome& limit : evidence.limits)
        if (!limit.held() && !outputs_failed(report))
            notes.push_back(limit_words(limit) + " `make inspect` shows what each line costs.");
    if (report.check_mode)
        for (const Finding& found : report.check_mode->findings)
            if (is_noted(found) && !outputs_failed(report)) notes.push_back(message_of(found) + " " + found.hint);
    for (const std::string& note : {report.compilation.note, evidence.narrow_index, evidence.idle_threads})
        if (!note.empty() && !outputs_failed(report)) notes.push_back(note);
    if (evidence.timed.reference_does_not_compile)
        notes.push_back("The reference solution does not compile here, so the time was not compared with it.");
    if (!only_dataset.empty())
        notes.push_back(fmt::format("Not scored: only the dataset {} was requested.", only_dataset));
    return notes;
}

}  // namespace

Failure internal_error(const std::string& what) {
    return {cause::internal, what, "This is not a mistake of the student."};
}

StageReport settle(StageReport report, const Stage& stage, const Evidence& evidence, const std::string& only_dataset) {
    report.compilation = settle_compilation(evidence);
    report.check_mode = evidence.sanitizer;
    report.checks = with_explanations(
        evidence.checks, report.check_mode ? report.check_mode->findings : std::vector<Finding>(), report.compilation);
    put_clearest_failure_first(report.checks);
    if (evidence.starter && outputs_failed(report))
        for (Check& check : report.checks) {
            if (check.failure && check.verdict == Verdict::failed)
                check.failure = evidence.starter;
            else
                check.points = 0;  // the student did not write the parts of the starter that are right
        }
    if (evidence.timed.failed) report.checks.push_back(*evidence.timed.failed);
    report.measurements = evidence.timed.measurements;
    report.error = evidence.error ? evidence.error : evidence.timed.error;
    report.output = evidence.output;
    report.notes = settle_notes(report, evidence, only_dataset);
    report.verdict = settle_verdict(report);
    if (only_dataset.empty() && report.verdict != Verdict::error) report.score = score_stage(stage, report);
    return report;
}

SanitizerResult settle_sanitizer(const Sanitized& sanitized) {
    using enum SanitizerResult::Verdict;
    const auto ran = [](const Check& check) { return !check.skipped; };
    const auto failed_one = [](const Check& check) { return !check.skipped && check.verdict != Verdict::passed; };
    const auto first_failed = std::ranges::find_if(sanitized.checks, failed_one);
    SanitizerResult result;
    result.datasets = static_cast<int>(std::ranges::count_if(sanitized.checks, ran));
    result.findings = sanitized.findings;
    result.wall_s = sanitized.wall_s;
    result.verdict = passed;
    if (first_serious(sanitized.findings)) {
        result.verdict = failed;
    } else if (first_failed != sanitized.checks.end()) {
        result.verdict = first_failed->verdict == Verdict::error ? error : unconfirmed;
        result.remark = fmt::format("the sanitizer could not finish {}", first_failed->dataset);
        if (first_failed->failure) result.remark += ": " + first_failed->failure->message;
    } else if (!sanitized.doubt.empty()) {
        result.verdict = unconfirmed;
        result.remark = "unconfirmed, for an instructor to review: " + sanitized.doubt;
    } else if (result.datasets == 0) {
        result.remark = "given without the sanitizer: no dataset here is small enough for it";
    }
    return result;
}

SanitizerResult settle_sanitizer(const Compilation& compilation) {
    SanitizerResult result;
    const std::string reason = compilation.failure ? compilation.failure->message : "it could not be compiled.";
    if (compilation.verdict == Verdict::failed) {
        result.verdict = SanitizerResult::Verdict::unconfirmed;
        result.remark = "unconfirmed: the sanitizer, which runs on the CPU backend, cannot run this file. " + reason;
    } else {
        result.remark = "the program for the sanitizer could not be compiled: " + reason;
    }
    return result;
}

std::vector<Check> with_explanations(std::vector<Check> checks, const std::vector<Finding>& findings,
                                     const Compilation& compilation) {
    for (Check& check : checks) {
        if (!check.failure || check.verdict != Verdict::failed || !check.blocked_by.empty()) continue;
        Failure& failure = *check.failure;
        const auto explains = [&](const Finding& finding) { return is_explained_by(failure, finding); };
        const auto leading = std::ranges::find_if(findings, explains);
        const std::string warned = fmt::format("The compiler warns about line {}{}: start there.",
                                               compilation.warned_line, warning_in(compilation));
        if (leading != findings.end()) {
            const int after = leading->line - compilation.warned_line;
            const bool is_near = compilation.warned_line > 0 && after >= 0 && after <= 2;
            failure = {leading->cause, message_of(*leading), is_near ? warned + " " + leading->hint : leading->hint,
                       failure.place, failure.hangs};
        } else if (compilation.warned_line > 0 && (is_described(failure) || failure.cause == cause::timeout)) {
            failure.message += " " + warned;
        }
    }
    return checks;
}

}  // namespace warplab
