#include "grader/judge/sandbox/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace warplab {
namespace {

TEST(Watchdog, InterruptsACallThatDoesNotReturn) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Watchdog watchdog("reading", 0.1);
    EXPECT_FALSE(watchdog.overdue());
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), -1);
    EXPECT_EQ(errno, EINTR);
    EXPECT_TRUE(watchdog.overdue());
    for (const int end : ends) close(end);
}

TEST(Watchdog, DoesNotInterruptOtherCalls) {
    { const Watchdog ended("nothing", 0.01); }
    const Watchdog watchdog("sleeping", 10);
    EXPECT_EQ(usleep(100000), 0);
}

}  // namespace
}  // namespace warplab
