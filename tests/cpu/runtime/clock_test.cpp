// The clocks by which the sanitizer orders accesses.

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

Known known(std::uint32_t generation, std::uint32_t thread, std::uint32_t step) {
    Known one;
    one.begin(1, generation);
    one.add(thread, step);
    return one;
}

TEST(Known, CoversEarlierStepsAndEarlierGenerations) {
    const Known one = known(5, 40, 3);
    EXPECT_TRUE(one.covers(access(1, 5, 40, 2)));
    EXPECT_FALSE(one.covers(access(1, 5, 40, 3)));
    EXPECT_FALSE(one.covers(access(1, 5, 39, 0)));
    EXPECT_FALSE(one.covers(access(1, 5, 41, 0)));
    EXPECT_TRUE(one.covers(access(1, 4, 1023, 9)));
    EXPECT_FALSE(one.covers(access(1, 6, 40, 0)));
    EXPECT_FALSE(one.covers(access(2, 4, 40, 0)));
}

TEST(Known, MergesTheLaterStepsOfEachThread) {
    for (const bool reverse : {false, true}) {
        Known one = known(5, reverse ? 700 : 40, 3), other = known(5, reverse ? 40 : 700, 3);
        one.add(100, 2);
        other.add(100, 8);
        one.merge(other);
        EXPECT_TRUE(one.contains(other));
        EXPECT_FALSE(other.contains(one));
        for (const std::uint32_t thread : {40u, 700u}) EXPECT_TRUE(one.covers(access(1, 5, thread, 2)));
        EXPECT_TRUE(one.covers(access(1, 5, 100, 7)));
        for (const std::uint32_t thread : {39u, 41u, 699u, 701u}) EXPECT_FALSE(one.covers(access(1, 5, thread, 0)));
    }
}

TEST(Known, ALaterGenerationReplacesAnEarlierOne) {
    Known one = known(5, 40, 3);
    one.merge(known(6, 7, 2));
    EXPECT_TRUE(one.covers(access(1, 5, 41, 9)));
    EXPECT_TRUE(one.covers(access(1, 6, 7, 1)));
    EXPECT_FALSE(one.covers(access(1, 6, 40, 1)));
    one.merge(known(5, 41, 9));
    EXPECT_FALSE(one.covers(access(1, 6, 41, 1)));
    EXPECT_TRUE(one.contains(known(5, 41, 9)));
    EXPECT_FALSE(known(5, 41, 9).contains(one));
}

TEST(Known, ClearForgetsEverything) {
    Known one = known(5, 40, 3);
    one.clear();
    EXPECT_TRUE(one.empty());
    EXPECT_FALSE(one.covers(access(1, 4, 40, 0)));
    one.merge(known(6, 7, 2));
    EXPECT_TRUE(one.covers(access(1, 6, 7, 1)));
    EXPECT_FALSE(one.covers(access(1, 6, 40, 1)));
}

}  // namespace
}  // namespace warplab_cpu
