#include "grader/common/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace warplab {
namespace {

TEST(ForEachIndex, CallsTheWorkOncePerIndex) {
    for (const std::size_t threads : {1, 3, 64}) {
        std::vector<std::atomic<int>> calls(20);
        for_each_index(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
        for (const auto& count : calls) EXPECT_EQ(count, 1);
    }
    for_each_index(0, 3, [](std::size_t) { FAIL(); });
}

TEST(ForEachIndex, StartsNoThreadForOneIndex) {
    std::thread::id id;
    for_each_index(1, 8, [&](std::size_t) { id = std::this_thread::get_id(); });
    EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(ForEachIndex, RethrowsAfterTheOtherThreadsHaveEnded) {
    std::atomic<int> calls = 0;
    const auto work = [&](std::size_t i) {
        if (i == 0) throw std::runtime_error("the first");
        ++calls;
    };
    EXPECT_THROW(for_each_index(20, 4, work), std::runtime_error);
    EXPECT_EQ(calls, 19);
}

}  // namespace
}  // namespace warplab
