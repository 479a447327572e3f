#include "grader/judge/lab/taps.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

constexpr std::size_t n = 100, at = 50;

/// out[i] = in[i] + in[i + 1] / 2
class Blur : public Oracle {
  public:
    Problem generate(const Dataset&, std::uint64_t, std::size_t) const override {
        return {{}, {}, {Array(ElementType::float64, n), Array(ElementType::float64, n)}};
    }
    void reference(Problem& problem, Execution) const override { compute(problem, 1, 1, 0); }
    Cost cost(const Problem&) const override { return {}; }

    /// Compute out[i] = in[i] + times * in[i + second] / 2 + constant.
    static void compute(Problem& problem, std::size_t second, double times, double constant) {
        const auto from = problem.arrays[0].as<double>(), to = problem.arrays[1].as<double>();
        for (std::size_t i = 0; i + second < n; ++i) to[i] = from[i] + times * from[i + second] / 2 + constant;
    }
};

std::optional<Taps> taps_of(std::size_t second, double times, double constant) {
    const Blur oracle;
    return find_taps(
        {oracle, oracle.generate({}, 0, 0), {0}, 1, at},
        [=](Problem problem) {
            problem.arrays[1] = problem.arrays[1].clone();
            Blur::compute(problem, second, times, constant);
            return std::optional(problem.arrays);
        },
        10);
}

TEST(Taps, RightWeightsAreNotListed) {
    const auto taps = taps_of(1, 1, 0);
    EXPECT_TRUE(taps && taps->complete && taps->wrong.empty());
}

TEST(Taps, FindsTheWrongInputsAndTheirWeights) {
    const auto taps = taps_of(7, 1, 0);
    ASSERT_TRUE(taps && taps->complete);
    ASSERT_EQ(taps->wrong.size(), 2u);
    EXPECT_EQ(taps->wrong[0].index, at + 1);
    EXPECT_DOUBLE_EQ(taps->wrong[0].weight, 0);
    EXPECT_DOUBLE_EQ(taps->wrong[0].expected, 0.5);
    EXPECT_EQ(taps->wrong[1].index, at + 7);
    EXPECT_DOUBLE_EQ(taps->wrong[1].weight, 0.5);
    EXPECT_DOUBLE_EQ(taps->wrong[1].expected, 0);
}

TEST(Taps, AConstantIsNotAWeight) {
    const auto taps = taps_of(1, 2, 3);
    ASSERT_TRUE(taps);
    EXPECT_EQ(taps->constant, 3);
    ASSERT_EQ(taps->wrong.size(), 1u);
    EXPECT_DOUBLE_EQ(taps->wrong[0].weight, 1);
}

TEST(Taps, AreUnknownIfNoCallSucceeds) {
    const Blur oracle;
    const auto none = [](const Problem&) { return std::optional<std::vector<Array>>(); };
    EXPECT_FALSE(find_taps({oracle, oracle.generate({}, 0, 0), {0}, 1, at}, none, 10));
}

TEST(DescribePlaces, NamesRowsAndColumns) {
    const auto places = [](auto is_wrong) {
        return describe_places(32, 10, [&](std::size_t i) { return is_wrong(i / 10, i % 10); });
    };
    using Index = std::size_t;
    EXPECT_EQ(places([](Index y, Index) { return y % 8 > 3; }), "numbers 4 to 7 (from 0) of every 8 rows");
    EXPECT_EQ(places([](Index y, Index) { return y % 4 == 0; }), "the first of every 4 rows");
    EXPECT_EQ(places([](Index y, Index x) { return y == 31 && x > 7; }), "row 31 of 32, and columns 8 to 9 of 10");
    EXPECT_EQ(places([](Index y, Index) { return y % 6 > 3; }), "numbers 4 to 5 (from 0) of every 6 rows");
    EXPECT_EQ(places([](Index y, Index) { return y % 14 == 3; }), "the fourth of every 14 rows");
    EXPECT_EQ(places([](Index, Index x) { return x % 9 == 0; }), "the first and the last column");
    EXPECT_EQ(places([](Index y, Index) { return y < 5 || y > 26; }), "the first 5 and the last 5 rows");
    EXPECT_EQ(places([](Index y, Index) { return y % 10 == 0 || y % 10 == 9; }),
              "the first and the last of every 10 rows");
    EXPECT_EQ(places([](Index y, Index x) { return y == 3 && (x == 0 || x == 5 || x == 6); }),
              "row 3 of 32, and columns 0, 5 and 6 of 10");
    EXPECT_EQ(places([](Index y, Index) { return y == 0 || y == 30; }), "rows 0 and 30 of 32");
    EXPECT_EQ(places([](Index, Index) { return true; }), "");
    EXPECT_EQ(places([](Index y, Index) { return y * y % 7 == 1; }), "");
}

}  // namespace
}  // namespace warplab
