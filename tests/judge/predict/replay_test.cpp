// Replays of small traces that are written here.
#include "grader/judge/predict/replay.h"

#include <gtest/gtest.h>

#include <numeric>

namespace warplab::predict {
namespace {

constexpr std::size_t sectors_per_block = 64, sampled_blocks = 8;

/// A trace of launches that read one memory of a gigabyte, each block its own sectors.
class Reads {
  public:
    Reads() {
        trace_.memories = {{0, 1ull << 30, trace::MemoryRole::allocation}};
        trace_.words.resize(sampled_blocks * sectors_per_block);
        std::iota(trace_.words.begin(), trace_.words.end(), 0u);
    }
    /// Return the clocks for which the memory is busy in a launch of this many blocks.
    double memory_clocks(std::uint64_t blocks) {
        TracedLaunch launch{.kernel = "k", .blocks = blocks, .threads = 32, .shared_bytes = 0, .sampled = {}};
        for (std::size_t b = 0; b < std::min<std::size_t>(blocks, sampled_blocks); ++b) {
            const std::span<const std::uint32_t> words(&trace_.words[b * sectors_per_block], sectors_per_block);
            const TracedOperation read{0x10, trace::OperationKind::device_read, 32, 64, words};
            launch.sampled.push_back({1, 1, {{read}}});
        }
        const KernelTime time = replay(machine_, trace_, launch, code_, 32, residency_, nullptr);
        return time.busy[static_cast<std::size_t>(Resource::memory)];
    }

  private:
    Machine machine_ = read_machine("grader/judge/predict/gpus", "h100");
    Code code_ = Code({}, {});
    Trace trace_;
    Residency residency_{.bytes = {0}};
};

TEST(Replay, ALargeLaunchIsReadFromMemoryEachTime) {
    constexpr std::uint64_t many = 200'000;  // 400 MB, and the L2 has 55
    Reads reads;
    const double first = reads.memory_clocks(many);
    EXPECT_GT(first, 0);
    EXPECT_GT(reads.memory_clocks(many), 0.8 * first);
}

TEST(Replay, ASmallLaunchDoesNotBringAWholeMemoryIntoTheL2) {
    constexpr std::uint64_t many = 200'000;
    Reads reads;
    const double first = reads.memory_clocks(many);
    reads.memory_clocks(1);
    EXPECT_GT(reads.memory_clocks(many), 0.8 * first);
}

TEST(Replay, WhatFitsIsReadFromTheL2TheSecondTime) {
    constexpr std::uint64_t few = 2'000;  // 4 MB
    Reads reads;
    EXPECT_GT(reads.memory_clocks(few), 0);
    EXPECT_EQ(reads.memory_clocks(few), 0);
    reads.memory_clocks(1);
    EXPECT_EQ(reads.memory_clocks(few), 0);
}

}  // namespace
}  // namespace warplab::predict
