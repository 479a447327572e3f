#include "grader/judge/device/gpu_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "tests/fuzz/scratch.h"

namespace warplab {
namespace {
using enum GpuLock::Use;
using namespace std::chrono_literals;

class GpuLocks : public testing::Test {
  protected:
    GpuLock take(GpuLock::Use use, const std::string& gpu = "a") {
        return GpuLock(folder_.path, gpu, use, [&] { ++waiting_; });
    }
    /// Take the lock in another thread, and return when that thread waits for it.
    std::future<void> take_later(
        GpuLock::Use use, std::function<void()> then = [] {}) {
        const int before = waiting_;
        auto task = std::async(std::launch::async, [=, this] {
            const GpuLock lock = take(use);
            then();
        });
        while (waiting_ == before) std::this_thread::yield();
        return task;
    }
    fuzz::ScratchFolder folder_{"gpus"};
    std::atomic<int> waiting_ = 0;
};

TEST_F(GpuLocks, AreSharedByJudgesThatDoNotTime) {
    const GpuLock first = take(with_others), second = take(with_others);
    EXPECT_EQ(waiting_, 0);
}

TEST_F(GpuLocks, OfDifferentGpusAreIndependent) {
    const GpuLock first = take(alone), second = take(alone, "b");
    EXPECT_EQ(waiting_, 0);
}

TEST_F(GpuLocks, ExcludeOthersWhileOneJudgeTimes) {
    std::optional<GpuLock> timing = take(alone);
    auto check = take_later(with_others), another_timing = take_later(alone);
    EXPECT_EQ(check.wait_for(20ms), std::future_status::timeout);
    timing.reset();
    check.get();
    another_timing.get();
    EXPECT_EQ(waiting_, 2);
}

TEST_F(GpuLocks, GiveATimingJudgePriorityOverLaterJudges) {
    std::optional<GpuLock> check = take(with_others);
    std::string order;
    auto timing = take_later(alone, [&] { order += 't'; });
    auto later_check = take_later(with_others, [&] { order += 'c'; });
    check.reset();
    timing.get();
    later_check.get();
    EXPECT_EQ(order, "tc");
}

TEST_F(GpuLocks, DetectWhetherAnotherJudgeUsedTheGpu) {
    std::optional<GpuLock> first = take(with_others);
    EXPECT_FALSE(first->another_judge_ran());
    const GpuLock on_another_gpu = take(with_others, "b");
    EXPECT_FALSE(first->another_judge_ran());
    std::optional<GpuLock> second = take(with_others);
    EXPECT_TRUE(second->another_judge_ran());
    second.reset();
    EXPECT_TRUE(first->another_judge_ran());
    auto waiting = take_later(alone);
    first.reset();
    waiting.get();
    const GpuLock timing = take(alone);
    EXPECT_FALSE(timing.another_judge_ran());
}

TEST_F(GpuLocks, WaitingJudgesDoNotCountAsUsingTheGpu) {
    std::optional<GpuLock> first = take(with_others);
    auto waiting = take_later(alone);
    EXPECT_FALSE(first->another_judge_ran());
    first.reset();
    waiting.get();
}

TEST(GpuLock, DoesNotWaitIfTheFolderCannotBeWritten) {
    const GpuLock first("/proc/none", "a", alone, {}), second("/proc/none", "a", alone, {});
}

}  // namespace
}  // namespace warplab
