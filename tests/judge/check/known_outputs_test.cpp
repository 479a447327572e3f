#include "grader/judge/check/known_outputs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

namespace warplab {
namespace {

/// Doubles its input, and counts how often it was asked.
class Doubling : public Oracle {
  public:
    explicit Doubling(std::chrono::milliseconds takes) : takes_(takes) {}
    Problem generate(const Dataset&, std::uint64_t seed, std::size_t) const override {
        Problem problem{{}, {}, {Array(ElementType::int32, 4), Array(ElementType::int32, 4)}};
        problem.arrays[0].as<int>()[0] = static_cast<int>(seed);
        return problem;
    }
    void reference(Problem& problem, Execution) const override {
        ++asked;
        std::this_thread::sleep_for(takes_);
        problem.arrays[1].as<int>()[0] = 2 * problem.arrays[0].as<int>()[0];
    }
    Cost cost(const Problem&) const override { return {}; }
    mutable int asked = 0;

  private:
    std::chrono::milliseconds takes_;
};

class KnownOutputsTest : public testing::Test {
  protected:
    KnownOutputsTest() {
        lab_.name = "doubling";
        lab_.buffers.resize(2);
        lab_.buffers[0].role = Role::input;
        lab_.buffers[1].role = Role::output;
        dataset_.name = "few";
    }
    /// The answer; `damage` is what somebody does to the outputs afterwards.
    int solve(const Oracle& oracle, std::uint64_t seed, int damage = 0) {
        Problem problem = oracle.generate(dataset_, seed, 0);
        known_outputs_.solve(oracle, lab_, dataset_, seed, problem);
        EXPECT_EQ(problem.arrays[0].as<int>()[0], static_cast<int>(seed));
        int& answer = problem.arrays[1].as<int>()[0];
        return std::exchange(answer, answer + damage);
    }
    Lab lab_;
    Dataset dataset_;
    KnownOutputs known_outputs_;
};

TEST_F(KnownOutputsTest, SlowOneIsAskedOnceForEachSeedAndDataset) {
    const Doubling slow(std::chrono::milliseconds(150));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(solve(slow, 21, 1), 42) << "what is kept is nobody's to change";
    EXPECT_EQ(slow.asked, 1);
    EXPECT_EQ(solve(slow, 5), 10);
    EXPECT_EQ(slow.asked, 2);
    dataset_.name = "many";
    EXPECT_EQ(solve(slow, 21), 42);
    EXPECT_EQ(slow.asked, 3);
}

TEST_F(KnownOutputsTest, FastOneIsAskedAgain) {
    const Doubling fast(std::chrono::milliseconds(0));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(solve(fast, 21), 42);
    EXPECT_EQ(fast.asked, 3);
}

}  // namespace
}  // namespace warplab
