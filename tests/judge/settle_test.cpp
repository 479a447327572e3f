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
    const auto raced = with_hints(checks, {{"race", "", "other words", true}, {"race", "", "an atomic", false}});
    EXPECT_EQ(raced[0].failure->hint, "an atomic");
    for (const int other : {1, 3}) EXPECT_EQ(raced[other].failure->hint, "of the outputs alone");
    const auto strayed = with_hints(checks, {{"out_of_bounds", "", "Guard the access.", false, 28}});
    EXPECT_THAT(strayed[0].failure->hint, HasSubstr("Line 28 uses memory that is not its own"));
    EXPECT_EQ(strayed[3].failure->hint, strayed[0].failure->hint);
    EXPECT_EQ(with_hints(checks, {})[0].failure->hint, "of the outputs alone");
}

}  // namespace
}  // namespace warplab
