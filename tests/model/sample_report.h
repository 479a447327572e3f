#pragma once
// Sample reports that contain parts of every kind.

#include <limits>

#include "grader/model/cause.h"
#include "grader/model/report.h"

namespace warplab::test {

inline Check passed_check(std::string dataset, double points = 1) {
    Check check;
    check.dataset = std::move(dataset);
    check.points = points;
    check.verdict = Verdict::passed;
    check.wall_s = 0.125;
    return check;
}

inline Check failed_check(std::string dataset, Failure failure) {
    Check check = passed_check(std::move(dataset));
    check.verdict = Verdict::failed;
    check.failure = std::move(failure);
    return check;
}

inline Check skipped_check(std::string dataset, std::string why) {
    Check check;
    check.dataset = std::move(dataset);
    check.points = 2;
    check.skipped = true;
    check.skipped_why = std::move(why);
    return check;
}

inline StageReport stage_report(std::string stage, std::string title, Verdict verdict) {
    StageReport report;
    report.stage = std::move(stage);
    report.title = std::move(title);
    report.source = "work/dot_product/" + report.stage + ".cu";
    report.source_hash = std::string(64, 'a');
    report.verdict = verdict;
    report.compilation.verdict = Verdict::passed;
    report.compilation.wall_s = 0.75;
    return report;
}

inline Score score_of(double correctness, double hygiene_max, double speed) {
    Score score;
    score.correctness = correctness;
    score.correctness_max = 6;
    score.hygiene_max = hygiene_max;
    score.hygiene_pending = hygiene_max > 0;
    if (score.hygiene_pending) score.hygiene_why = "the sanitizer was skipped";
    score.speed = speed;
    score.speed_max = 2;
    return score;
}

inline Finding race_in_line_10() {
    Finding finding;
    finding.cause = cause::race;
    finding.message =
        "Race on element 2 of the shared variable sums: thread (0,0,0) reads it and thread (2,0,0) writes it.";
    finding.hint = "A __syncthreads() belongs between the two lines.";
    finding.line = 10;
    finding.text = "sums[threadIdx.x] += sums[threadIdx.x + s];";
    finding.other_line = 8;
    finding.other_text = "sums[threadIdx.x] = a[i] * b[i];";
    finding.count = 384;
    finding.kernel = "partial_sum_kernel";
    return finding;
}

inline Finding note_in_line_12() {
    Finding finding;
    finding.cause = "beside_atomic";
    finding.message = "element 0 of out is read plainly while others update it with atomics: what is seen may be old.";
    finding.note = true;
    finding.line = 12;
    finding.count = 1;
    return finding;
}

inline SanitizerResult check_mode_with(std::vector<Finding> findings, SanitizerResult::Verdict verdict) {
    SanitizerResult check_mode;
    check_mode.verdict = verdict;
    check_mode.datasets = 2;
    check_mode.wall_s = 0.5;
    check_mode.findings = std::move(findings);
    return check_mode;
}

inline Measurement measurement(std::string dataset, double median_s) {
    Measurement measured;
    measured.dataset = std::move(dataset);
    measured.samples_s = {median_s, 1.01 * median_s, 0.99 * median_s};
    measured.reference_samples_s = {median_s / 1.125, median_s / 1.15, median_s / 1.1};
    measured.samples_of_rounds = {2, 1};
    measured.conditions = {{1980, 41, "", 4.25e12}, {1975, 42, "power cap"}, {std::nullopt, std::nullopt, ""}};
    measured.median_s = median_s;
    measured.reference_s = median_s / 1.125;
    measured.reference_ratio = Interval{1.125, 1.1, 1.15};
    measured.previous_ratio = 2.5;
    measured.ended_by = Measurement::EndedBy::points_known;
    measured.sequential_s = 80 * median_s;
    measured.openmp_s = 10 * median_s;
    measured.openmp_threads = 16;
    measured.transfer_s = 3 * median_s;
    measured.floor_s = 0.85 * median_s;
    measured.bound_s = 0.95 * median_s;
    measured.floor_bytes = measured.bound_bytes = 134217732;
    measured.flops = 33554432;
    measured.bandwidth_bytes_per_s = 4.277e12;
    measured.limit = "memory bandwidth";
    return measured;
}

inline StageReport passed_stage() {
    auto stage = stage_report("01_serial_block_sum", "Serial sum per block", Verdict::passed);
    stage.checks = {passed_check("tiny"), passed_check("ragged"),
                    skipped_check("huge", "too large for the CPU backend"),
                    skipped_check("huge_ragged", "too large for the CPU backend")};
    stage.compilation.cached = true;
    stage.compilation.nvcc.answer = NvccAnswer::Answer::compiles;
    stage.check_mode = check_mode_with({note_in_line_12()}, SanitizerResult::Verdict::passed);
    stage.score = score_of(6, 2, 0);
    stage.score->hygiene = 2;
    stage.score->hygiene_pending = false;
    stage.score->hygiene_why = "";
    stage.score->speed_pending = true;
    stage.score->speed_why = "not timed; grading on a GPU adds the speed points";
    stage.output = "n = 7\n";
    return stage;
}

inline StageReport failed_stage() {
    auto stage = stage_report("02_dyadic_interleaved", "Dyadic sum, neighbours first", Verdict::failed);
    Failure tail;
    tail.cause = "tail_lost";
    tail.message =
        "out[0] is the sum of the first 99,840 products only: the last 160, after the last whole block of 256, are "
        "missing.";
    tail.hint = "Round the number of blocks up, (n + BLOCK - 1) / BLOCK, and guard against i >= n.";
    tail.place = Place{"out", 1234567, "-559038737", "nan"};
    Failure other = tail;
    other.place.reset();
    Failure crash;
    crash.cause = cause::crash;
    crash.message = "The program crashed in partial_sum_kernel.";
    stage.checks = {passed_check("tiny"), failed_check("ragged", tail), failed_check("one_below_block", other),
                    failed_check("secret_1", crash), failed_check("one_above_block", other)};
    stage.checks[3].hidden = true;
    stage.check_mode = check_mode_with({race_in_line_10()}, SanitizerResult::Verdict::failed);
    stage.score = score_of(1.2, 2, 0);
    stage.score->hygiene_pending = false;
    stage.score->hygiene_why = stage.score->speed_why = "no points until every dataset passes";
    stage.notes = {"Windows line endings were read as line feeds."};
    return stage;
}

/// Return a stage that has a race, although its outputs were right by chance.
inline StageReport racing_stage() {
    auto stage = stage_report("02_dyadic_interleaved", "Dyadic sum, neighbours first", Verdict::failed);
    stage.checks = {passed_check("tiny"), passed_check("ragged"),
                    skipped_check("huge", "too large for the CPU backend")};
    Finding other_race = race_in_line_10();
    other_race.line = 31;
    other_race.text = other_race.other_text = "";
    stage.check_mode = check_mode_with({race_in_line_10(), other_race, other_race, other_race, note_in_line_12()},
                                       SanitizerResult::Verdict::failed);
    stage.score = score_of(6, 2, 0);
    stage.score->hygiene_pending = false;
    stage.score->hygiene_why = "no points, because the sanitizer found an error";
    stage.score->speed_pending = true;
    stage.score->speed_why = "not timed; grading on a GPU adds the speed points";
    return stage;
}

inline StageReport uncompiled_stage() {
    auto stage = stage_report("03_dyadic_sequential", "Dyadic sum, halves", Verdict::failed);
    stage.compilation.verdict = Verdict::failed;
    Failure failure;
    failure.cause = cause::compile_error;
    failure.message = "work/dot_product/03_dyadic_sequential.cu does not compile: error in line 12.";
    failure.hint = "Begin with the first error; the others often follow from it.";
    stage.compilation.failure = failure;
    stage.compilation.log =
        "work/dot_product/03_dyadic_sequential.cu:12:5: error: expected ';' before '}' token\n"
        "   12 |     out[0] = 1\n"
        "      |\t       ^\n";
    stage.score = score_of(0, 2, 0);
    stage.score->hygiene_pending = false;
    stage.score->hygiene_why = stage.score->speed_why = "no points until every dataset passes";
    return stage;
}

inline StageReport error_stage() {
    auto stage = stage_report("04_dyadic_cpu_tail", "Kernel by kernel, the rest on the CPU", Verdict::error);
    stage.checks = {passed_check("tiny")};
    Failure failure;
    failure.cause = cause::implausible_timing;
    failure.message =
        "0.0001 s for 1000 iterations is less than any program needs to read the inputs (0.03 s); an instructor looks "
        "at it.";
    stage.error = failure;
    return stage;
}

inline StageReport timed_stage() {
    auto stage = stage_report("05_warp_shuffle", "Registers and shuffles", Verdict::passed);
    stage.checks = {passed_check("tiny"), passed_check("ragged")};
    stage.measurements = {measurement("n_16m", 0.03328), measurement("n_256m", 0.5134)};
    stage.measurements[1].ambiguous = true;
    stage.measurements[1].ended_by = Measurement::EndedBy::most_rounds;
    stage.phases = {{GradingPhase::compile, 1.5}, {GradingPhase::samples, 4.25}};
    stage.measurements[1].cut = true;
    stage.measurements[1].calls_per_sample = 500;
    stage.measurements[1].caveats = {"a sample was cut to 500 calls and scaled"};
    stage.score = score_of(6, 2, 1.75);
    return stage;
}

inline Report sample_report() {
    Report report;
    report.verb = "grade";
    report.lab = "dot_product";
    report.backend = "cuda";
    report.sandbox = "namespace";
    report.sandbox_remark = "No control groups: memory is limited per process.";
    report.tree = "work";
    report.time = "2026-01-02T03:04:05Z";
    report.warplab = "0.1 (3f2c81d09a)";
    report.machine = {"lab-17", "Debian 12", "AMD EPYC 7B13", 16, "NVIDIA H200", "580.1", "13.0", "nvcc 13.0"};
    report.stages = {passed_stage(), failed_stage(), uncompiled_stage(), error_stage(), timed_stage()};
    return report;
}

inline Report cpu_report() {
    auto report = sample_report();
    report.verb = "check";
    report.backend = "cpu";
    report.sandbox = "none";
    report.sandbox_remark.clear();
    report.machine.gpu.clear();
    report.stages = {passed_stage(), failed_stage()};
    return report;
}

}  // namespace warplab::test
