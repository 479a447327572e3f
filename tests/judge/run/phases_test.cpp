#include "grader/judge/run/phases.h"

#include <gtest/gtest.h>

#include <thread>

namespace warplab {
namespace {

using enum GradingPhase;

TEST(PhaseClock, AddsThePartsOfAPhase) {
    PhaseClock clock;
    for (const GradingPhase phase : {compile, samples, compile, samples}) {
        clock.enter(phase);
        if (phase == samples) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const std::vector<PhaseTime> times = clock.finish();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].phase, compile);
    EXPECT_EQ(times[1].phase, samples);
    EXPECT_GE(times[1].wall_s, 0.01);
    EXPECT_GT(times[1].wall_s, times[0].wall_s);
}

TEST(PhaseClock, IsEmptyWithoutPhases) { EXPECT_TRUE(PhaseClock().finish().empty()); }

}  // namespace
}  // namespace warplab
