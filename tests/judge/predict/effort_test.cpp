// The model ends after a limited time, even on a forged trace.
#include "grader/judge/predict/effort.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "grader/judge/predict/call_time.h"
#include "grader/judge/predict/code.h"
#include "grader/judge/predict/gimple.h"
#include "grader/judge/predict/machine.h"
#include "tests/paths.h"

namespace warplab::predict {
namespace {

void work_without_end() {
    for (;;) count_effort();
}

TEST(EffortLimit, EndsWorkThatTakesTooLong) {
    const EffortLimit limit(0.02);
    EXPECT_THROW(work_without_end(), std::runtime_error);
}

TEST(EffortLimit, CannotBeExtendedByAnInnerLimit) {
    const EffortLimit limit(0.02);
    const EffortLimit inner(1e9);
    EXPECT_THROW(work_without_end(), std::runtime_error);
}

TEST(EffortLimit, EndsTheReplayOfManyLaunches) {
    constexpr std::size_t launches = 1'000'000, memories = 60'000;
    Trace trace;
    for (std::uint64_t i = 0; i < memories; ++i) trace.memories.push_back({i << 12, 64});
    trace.launches.resize(launches);
    for (std::size_t i = 0; i < launches; ++i) {
        TracedLaunch& launch = trace.launches[i];
        launch.blocks = launch.threads = 1;
        launch.same_as = i;
        launch.sampled.resize(1);
        trace.steps.emplace_back(Trace::LaunchNumber{i});
    }
    const Machine machine = read_machine(test::root_folder() / "grader/judge/predict/gpus", "h200");
    const EffortLimit limit(0.2);
    EXPECT_THROW(time_call(machine, trace, Code({}, {}), {}), std::runtime_error);
}

/// Return a function that divides by a variable which is chosen `levels` times, each time from `width` variables.
std::string division_by_a_chosen_variable(int levels, int width) {
    std::string text =
        "\n;; Function k (k, funcdef_no=1, decl_uid=1)\n\n  <bb 2> [local count: 1]:\n"
        "  [k.cu:1:1] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>\n";
    for (int i = 0; i < width; ++i)
        text += "  gimple_assign <lshift_expr, x_" + std::to_string(i) + ", 1, n_1(D), NULL>\n";
    for (int level = 1; level <= levels; ++level)
        for (int i = 0; i < width; ++i) {
            text += "  # gimple_phi <x_" + std::to_string(level * width + i);
            for (int j = 0; j < width; ++j) text += ", x_" + std::to_string((level - 1) * width + j) + "(2)";
            text += ">\n";
        }
    return text + "  gimple_assign <trunc_div_expr, y_1, n_1(D), x_" + std::to_string(levels * width) +
           ", NULL>\n  gimple_return <NULL>\n";
}

TEST(EffortLimit, EndsTheSearchForPowersOfTwo) {
    const auto functions = read_gimple(division_by_a_chosen_variable(5, 24));
    const EffortLimit limit(0.2);
    EXPECT_THROW(Code(functions, {{"k", {{0x10, "__sanitizer_cov_trace_pc"}}}}), std::runtime_error);
}

TEST(EffortLimit, IsNotReachedByAStringOfBrackets) {
    constexpr std::size_t brackets = 1'000'000;
    const std::string text =
        "\n;; Function k (k, funcdef_no=1, decl_uid=1)\n\n  <bb 2> [local count: 1]:\n"
        "  gimple_call <puts, NULL, &\"" +
        std::string(brackets, '[') + "\"[0]>\n";
    const EffortLimit limit(5);
    EXPECT_EQ(read_gimple(text).size(), 1u);
    for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW(count_effort());
}

}  // namespace
}  // namespace warplab::predict
