// A program gets more time if other processes keep it from a processor, but not if its own threads do.
#include "grader/judge/sandbox/process_tree.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <thread>

namespace warplab::sandbox {
namespace {

void work_for_100_ms() {
    timespec used{};
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_nsec < 100'000'000);
}

TEST(ProcessorTime, IncludesEndedThreads) {
    const double before_s = processor_time(getpid()).used_s;
    for (int i = 0; i < 3; ++i) std::thread(work_for_100_ms).join();
    EXPECT_GT(processor_time(getpid()).used_s - before_s, 0.25);
}

TEST(WasStarved, IsTrueIfTheProgramWaitedAndUsedLittleTime) {
    const ProcessorTime before{1, {{7, 2}}};
    EXPECT_TRUE(was_starved(before, {1.4, {{7, 2.6}}}, 1));
    EXPECT_FALSE(was_starved(before, {1.6, {{7, 2.6}}}, 1));
    EXPECT_FALSE(was_starved(before, {1.4, {{7, 2.4}}}, 1));
}

}  // namespace
}  // namespace warplab::sandbox
