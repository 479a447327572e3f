#include "grader/judge/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/model/cause.h"

namespace warplab {
namespace {

using testing::HasSubstr;

Compilation refused() {
    Compilation compilation;
    compilation.verdict = Verdict::failed;
    compilation.failure = Failure{cause::refused_feature, "Line 2: inline PTX cannot run on the CPU backend", "", {}};
    return compilation;
}

TEST(Settle, IsUnconfirmedIfTheCpuBackendRefusesTheFile) {
    const CheckMode check_mode = settle_sanitizer(refused());
    EXPECT_EQ(check_mode.verdict, CheckMode::Verdict::unconfirmed);
    EXPECT_EQ(check_mode.datasets, 0);
    EXPECT_THAT(check_mode.remark, HasSubstr("unconfirmed"));
    EXPECT_THAT(check_mode.remark, HasSubstr("Line 2: inline PTX"));
}

TEST(Settle, ABrokenCompilerIsOurFaultOnAGpu) {
    Compilation broken;
    broken.failure = Failure{cause::internal, "the compiler could not be started", "", {}};
    EXPECT_EQ(settle_sanitizer(broken).verdict, CheckMode::Verdict::error);
}

Check failed_with(const char* why) {
    Check check;
    check.failure = Failure{why, "", "of the outputs alone", {}};
    return check;
}

TEST(Settle, WhatItFoundExplainsAResultThatDependsOnTheOrder) {
    std::vector<Check> checks = {failed_with(cause::race), failed_with(cause::wrong_value), Check{},
                                 failed_with(cause::out_of_bounds_write)};
    const auto raced = with_hints(
        checks, {{.cause = "race", .note = true, .hint = "other words"}, {.cause = "race", .hint = "an atomic"}});
    EXPECT_EQ(raced[0].failure->hint, "an atomic");
    for (const int other : {1, 3}) EXPECT_EQ(raced[other].failure->hint, "of the outputs alone");
    const auto strayed = with_hints(checks, {{.cause = "out_of_bounds", .line = 28, .hint = "Guard the access."}});
    EXPECT_THAT(strayed[0].failure->hint, HasSubstr("Line 28 uses memory that is not its own"));
    EXPECT_EQ(strayed[3].failure->hint, strayed[0].failure->hint);
    EXPECT_EQ(with_hints(checks, {})[0].failure->hint, "of the outputs alone");
}

Check check_with(Verdict verdict, bool skipped = false) {
    Check check;
    check.dataset = "tiny";
    check.points = 1;
    check.verdict = verdict;
    check.skipped = skipped;
    if (verdict == Verdict::failed) check.failure = Failure{cause::wrong_value, "out[0] is 1.", "", {}};
    return check;
}

Evidence compiled() {
    Evidence evidence;
    evidence.compilation.verdict = Verdict::passed;
    evidence.checks = {check_with(Verdict::passed), check_with(Verdict::error, true)};
    return evidence;
}

StageReport settled(const Evidence& evidence, const std::string& only_dataset = "") {
    Stage stage;
    stage.points.correctness = 4;
    return settle({}, stage, evidence, only_dataset);
}

TEST(Settle, AStagePassesIfAllThatRanPassed) {
    EXPECT_EQ(settled(compiled()).verdict, Verdict::passed);
    EXPECT_EQ(settled(compiled()).score->correctness, 4);
    EXPECT_FALSE(settled(compiled(), "tiny").score);
}

TEST(Settle, AnErrorOutweighsAFailure) {
    Evidence evidence = compiled();
    evidence.checks.push_back(check_with(Verdict::failed));
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    evidence.checks.push_back(check_with(Verdict::error));
    EXPECT_EQ(settled(evidence).verdict, Verdict::error);
    evidence = compiled();
    evidence.error = internal_error("no memory");
    EXPECT_EQ(settled(evidence).verdict, Verdict::error);
    EXPECT_FALSE(settled(evidence).score);
}

TEST(Settle, AFindingFailsAStageWithCorrectOutputs) {
    Evidence evidence = compiled();
    evidence.sanitizer = settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {{.cause = "race"}}, ""});
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    evidence.sanitizer =
        settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {{.cause = "race", .note = true}}, ""});
    EXPECT_EQ(settled(evidence).verdict, Verdict::passed);
}

TEST(Settle, AFailureWhileTimedIsACheckOfItsOwn) {
    Evidence evidence = compiled();
    evidence.timed.failed = check_with(Verdict::failed);
    EXPECT_EQ(settled(evidence).verdict, Verdict::failed);
    EXPECT_EQ(settled(evidence).checks.size(), 3u);
}

TEST(Settle, ARefusedFileThatNvccCompilesIsLeftToAGpu) {
    Evidence evidence;
    evidence.refused = true;
    evidence.compilation.verdict = Verdict::failed;
    evidence.compilation.failure = Failure{cause::compile_error, "Line 3: no such name", "", {}};
    EXPECT_EQ(settled(evidence).compilation.failure->cause, cause::compile_error);
    evidence.nvcc.answer = NvccAnswer::Answer::compiles;
    const StageReport report = settled(evidence);
    EXPECT_EQ(report.verdict, Verdict::failed);
    EXPECT_EQ(report.compilation.failure->cause, cause::refused_feature);
    EXPECT_TRUE(report.score->correctness_pending);
}

TEST(Settle, TheSanitizerIsUnconfirmedIfItDidNotFinishOrIsInDoubt) {
    using enum CheckMode::Verdict;
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {}, ""}).verdict, passed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::passed)}, {}, {}, "It lost one."}).verdict, unconfirmed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::failed)}, {}, {}, ""}).verdict, unconfirmed);
    EXPECT_EQ(settle_sanitizer(Sanitized{{check_with(Verdict::error)}, {}, {}, ""}).verdict, error);
}

}  // namespace
}  // namespace warplab
