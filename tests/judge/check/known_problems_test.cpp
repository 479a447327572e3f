#include "grader/judge/check/known_problems.h"

#include <gtest/gtest.h>

#include <utility>

namespace warplab {
namespace {

/// Doubles its input, and counts the calls of its functions.
class Doubling : public Oracle {
  public:
    explicit Doubling(std::size_t elements = 4) : elements_(elements) {}
    Problem generate(const Dataset&, std::uint64_t seed, std::size_t) const override {
        ++generated;
        Problem problem{{}, {}, {Array(ElementType::int32, elements_), Array(ElementType::int32, elements_)}};
        problem.arrays[0].as<int>()[0] = static_cast<int>(seed);
        return problem;
    }
    void reference(Problem& problem, Execution) const override {
        ++solved;
        problem.arrays[1].as<int>()[0] = 2 * problem.arrays[0].as<int>()[0];
    }
    Cost cost(const Problem&) const override { return {}; }
    mutable int generated = 0, solved = 0;

  private:
    std::size_t elements_;
};

class KnownProblemsTest : public testing::Test {
  protected:
    KnownProblemsTest() {
        lab_.name = "doubling";
        lab_.buffers.resize(2);
        lab_.buffers[0].role = Role::input;
        lab_.buffers[1].role = Role::output;
        dataset_.name = "few";
    }
    int solve(const Oracle& oracle, std::uint64_t seed) {
        Problem problem = known_problems_.generate(oracle, lab_, dataset_, seed);
        EXPECT_EQ(problem.arrays[1].as<int>()[0], 0) << "generate() solved the problem";
        known_problems_.solve(oracle, lab_, dataset_, seed, problem);
        EXPECT_EQ(problem.arrays[0].as<int>()[0], static_cast<int>(seed));
        return problem.arrays[1].as<int>()[0];
    }
    Lab lab_;
    Dataset dataset_;
    KnownProblems known_problems_;
};

TEST_F(KnownProblemsTest, EachSeedAndDatasetIsGeneratedAndSolvedOnce) {
    const Doubling oracle;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(solve(oracle, 21), 42);
    EXPECT_EQ(oracle.generated, 1);
    EXPECT_EQ(oracle.solved, 1);
    EXPECT_EQ(solve(oracle, 5), 10);
    dataset_.name = "many";
    EXPECT_EQ(solve(oracle, 21), 42);
    EXPECT_EQ(oracle.generated, 3);
    EXPECT_EQ(oracle.solved, 3);
}

TEST_F(KnownProblemsTest, OutputsBeyondTheLimitAreNotKept) {
    const Doubling large(200 << 20);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(solve(large, 21), 42);
    EXPECT_EQ(large.generated, 1) << "the inputs were not kept, although they are small enough";
    EXPECT_EQ(large.solved, 2);
}

}  // namespace
}  // namespace warplab
