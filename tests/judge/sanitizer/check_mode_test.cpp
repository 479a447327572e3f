#include "grader/judge/sanitizer/check_mode.h"

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

TEST(CheckMode, IsUnconfirmedIfTheCpuBackendRefusesTheFile) {
    const CheckMode check_mode = without_check_mode(refused());
    EXPECT_EQ(check_mode.verdict, CheckMode::Verdict::unconfirmed);
    EXPECT_EQ(check_mode.datasets, 0);
    EXPECT_THAT(check_mode.remark, HasSubstr("unconfirmed"));
    EXPECT_THAT(check_mode.remark, HasSubstr("Line 2: inline PTX"));
}

TEST(CheckMode, ABrokenCompilerIsOurFaultOnAGpu) {
    Compilation broken;
    broken.failure = Failure{cause::internal, "the compiler could not be started", "", {}};
    EXPECT_EQ(without_check_mode(broken).verdict, CheckMode::Verdict::error);
}

Check failed_with(const char* why) {
    Check check;
    check.failure = Failure{why, "", "of the outputs alone", {}};
    return check;
}

TEST(CheckMode, WhatItFoundExplainsAResultThatDependsOnTheOrder) {
    std::vector<Check> checks = {failed_with(cause::race), failed_with(cause::wrong_value), Check{},
                                 failed_with(cause::out_of_bounds_write)};
    explain_by_findings(
        checks, {{.cause = "race", .note = true, .hint = "other words"}, {.cause = "race", .hint = "an atomic"}});
    EXPECT_EQ(checks[0].failure->hint, "an atomic");
    for (const int other : {1, 3}) EXPECT_EQ(checks[other].failure->hint, "of the outputs alone");
    explain_by_findings(checks, {{.cause = "out_of_bounds", .line = 28, .hint = "Guard the access."}});
    EXPECT_THAT(checks[0].failure->hint, HasSubstr("Line 28 uses memory that is not its own"));
    EXPECT_EQ(checks[3].failure->hint, checks[0].failure->hint);
    explain_by_findings(checks, {});
    EXPECT_THAT(checks[0].failure->hint, HasSubstr("Guard the access."));
}

}  // namespace
}  // namespace warplab
