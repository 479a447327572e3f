#include "grader/judge/check_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/core/cause.h"

namespace warplab {
namespace {

using testing::HasSubstr;

Compilation refused() {
    Compilation compilation;
    compilation.verdict = Verdict::failed;
    compilation.failure = Failure{cause::refused_feature, "Line 2: inline PTX cannot run on the CPU backend", "", {}};
    return compilation;
}

TEST(CheckMode, WhatTheCpuBackendRefusesCostsNothingOnAGpu) {
    const CheckMode check_mode = without_check_mode(refused(), Backend::cuda);
    EXPECT_EQ(check_mode.verdict, Verdict::passed);
    EXPECT_EQ(check_mode.datasets, 0);
    EXPECT_THAT(check_mode.remark, HasSubstr("without check mode"));
    EXPECT_THAT(check_mode.remark, HasSubstr("Line 2: inline PTX"));
}

TEST(CheckMode, WhatCompiledWithoutItMustCompileWithItOnTheCpu) {
    const CheckMode check_mode = without_check_mode(refused(), Backend::cpu);
    EXPECT_EQ(check_mode.verdict, Verdict::error);
    EXPECT_THAT(check_mode.remark, HasSubstr("could not be compiled"));
}

TEST(CheckMode, ABrokenCompilerIsOurFaultOnAGpu) {
    Compilation broken;
    broken.failure = Failure{cause::internal, "the compiler could not be started", "", {}};
    EXPECT_EQ(without_check_mode(broken, Backend::cuda).verdict, Verdict::error);
}

}  // namespace
}  // namespace warplab
