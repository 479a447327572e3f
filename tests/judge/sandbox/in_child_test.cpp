#include "grader/judge/sandbox/in_child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace warplab {
namespace {

using Strings = std::vector<std::string>;

TEST(ComputeInChild, ReturnsTheStrings) {
    const Strings strings = {"one", "", std::string(100000, 'x')};
    EXPECT_EQ(compute_in_child(60, [&] { return strings; }), strings);
    EXPECT_EQ(compute_in_child(60, [] { return Strings{}; }), Strings{});
}

TEST(ComputeInChild, ReturnsNoStringsAfterACrashAnExceptionOrAnExit) {
    EXPECT_EQ(compute_in_child(60,
                               []() -> Strings {
                                   std::raise(SIGFPE);
                                   return {"late"};
                               }),
              std::nullopt);
    EXPECT_EQ(compute_in_child(60, []() -> Strings { throw std::runtime_error("no"); }), std::nullopt);
    EXPECT_EQ(compute_in_child(60, []() -> Strings { _exit(0); }), Strings{});
}

TEST(ComputeInChild, ReturnsNothingIfItTakesTooLongOrReturnsTooMuch) {
    EXPECT_EQ(compute_in_child(0.1,
                               []() -> Strings {
                                   for (;;) pause();
                               }),
              std::nullopt);
    EXPECT_EQ(compute_in_child(60, [] { return Strings{std::string(5 << 20, 'x')}; }), std::nullopt);
}

TEST(ComputeInChild, WaitsLongerIfTheChildHasHadLittleProcessorTime) {
    EXPECT_EQ(compute_in_child(1,
                               []() -> Strings {
                                   std::this_thread::sleep_for(std::chrono::milliseconds(1500));
                                   return {"late"};
                               }),
              Strings{"late"});
}

}  // namespace
}  // namespace warplab
