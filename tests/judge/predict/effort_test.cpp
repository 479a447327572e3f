// The model ends after a limited time, even on a forged trace.
#include "grader/judge/predict/effort.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "grader/judge/predict/call_time.h"
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

}  // namespace
}  // namespace warplab::predict
