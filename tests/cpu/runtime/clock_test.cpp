// The clocks with which the sanitizer orders accesses.

#include "grader/cpu/runtime/clock.h"

#include <gtest/gtest.h>

namespace warplab_cpu {
namespace {

Mark access(std::uint32_t block, std::uint32_t generation, std::uint32_t thread, std::uint32_t step) {
    Mark mark;
    mark.block = block;
    mark.generation = generation;
    mark.thread = thread;
    mark.step = step;
    return mark;
}

KnownAccesses known(std::uint32_t generation, std::uint32_t thread, std::uint32_t step) {
    KnownAccesses clock;
    clock.begin(1, generation);
    clock.add(thread, step);
    return clock;
}

TEST(KnownAccesses, CoversEarlierStepsAndEarlierGenerations) {
    const KnownAccesses clock = known(5, 40, 3);
    EXPECT_TRUE(clock.covers(access(1, 5, 40, 2)));
    EXPECT_FALSE(clock.covers(access(1, 5, 40, 3)));
    EXPECT_FALSE(clock.covers(access(1, 5, 39, 0)));
    EXPECT_FALSE(clock.covers(access(1, 5, 41, 0)));
    EXPECT_TRUE(clock.covers(access(1, 4, 1023, 9)));
    EXPECT_FALSE(clock.covers(access(1, 6, 40, 0)));
    EXPECT_FALSE(clock.covers(access(2, 4, 40, 0)));
}

TEST(KnownAccesses, MergesTheLaterStepsOfEachThread) {
    for (const bool reverse : {false, true}) {
        KnownAccesses clock = known(5, reverse ? 700 : 40, 3), other = known(5, reverse ? 40 : 700, 3);
        clock.add(100, 2);
        other.add(100, 8);
        clock.merge(other);
        EXPECT_TRUE(clock.contains(other));
        EXPECT_FALSE(other.contains(clock));
        for (const std::uint32_t thread : {40u, 700u}) EXPECT_TRUE(clock.covers(access(1, 5, thread, 2)));
        EXPECT_TRUE(clock.covers(access(1, 5, 100, 7)));
        for (const std::uint32_t thread : {39u, 41u, 699u, 701u}) EXPECT_FALSE(clock.covers(access(1, 5, thread, 0)));
    }
}

TEST(KnownAccesses, ALaterGenerationReplacesAnEarlierOne) {
    KnownAccesses clock = known(5, 40, 3);
    clock.merge(known(6, 7, 2));
    EXPECT_TRUE(clock.covers(access(1, 5, 41, 9)));
    EXPECT_TRUE(clock.covers(access(1, 6, 7, 1)));
    EXPECT_FALSE(clock.covers(access(1, 6, 40, 1)));
    clock.merge(known(5, 41, 9));
    EXPECT_FALSE(clock.covers(access(1, 6, 41, 1)));
    EXPECT_TRUE(clock.contains(known(5, 41, 9)));
    EXPECT_FALSE(known(5, 41, 9).contains(clock));
}

TEST(KnownAccesses, ClearForgetsEverything) {
    KnownAccesses clock = known(5, 40, 3);
    clock.clear();
    EXPECT_TRUE(clock.empty());
    EXPECT_FALSE(clock.covers(access(1, 4, 40, 0)));
    clock.merge(known(6, 7, 2));
    EXPECT_TRUE(clock.covers(access(1, 6, 7, 1)));
    EXPECT_FALSE(clock.covers(access(1, 6, 40, 1)));
}

}  // namespace
}  // namespace warplab_cpu
