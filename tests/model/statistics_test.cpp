#include "grader/model/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace warplab {
namespace {

using Values = std::vector<double>;

Interval paired_ratio(const Values& a, const Values& b) { return warplab::paired_ratio(std::vector<Round>{{a, b}}); }

TEST(Median, IsTheMiddle) {
    EXPECT_EQ(median(Values{3}), 3);
    EXPECT_EQ(median(Values{5, 1, 3}), 3);
    EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median(Values{1, 1, 1, 100}), 1);
}

TEST(Median, OfNoValuesOrNanIsNan) {
    EXPECT_TRUE(std::isnan(median(Values{})));
    EXPECT_TRUE(std::isnan(median(Values{1, std::numeric_limits<double>::quiet_NaN(), 2})));
}

TEST(Median, DoesNotChangeTheValues) {
    const Values values = {5, 1, 3};
    median(values);
    EXPECT_EQ(values, (Values{5, 1, 3}));
}

TEST(PairedRatio, IsTheMedianOfTheRatiosOfPairs) {
    // Each pair has the ratio 2, even if the machine's speed changes.
    const Interval ratio = paired_ratio(Values{2, 4, 6, 20}, Values{1, 2, 3, 10});
    EXPECT_EQ(ratio.median, 2);
    EXPECT_EQ(ratio.low, 2);
    EXPECT_EQ(ratio.high, 2);
    EXPECT_EQ(paired_ratio(Values{1, 2, 30}, Values{1, 1, 10}).median, 2);
}

TEST(PairedRatio, OfOnePairHasNoWidth) {
    const Interval ratio = paired_ratio(Values{3}, Values{2});
    EXPECT_EQ(ratio.low, 1.5);
    EXPECT_EQ(ratio.high, 1.5);
}

TEST(PairedRatio, OfARoundIgnoresItsExtremes) {
    const Values a = {1.0, 1.1, 9.0, 0.9, 1.2, 1.05, 1.1, 0.1, 1.15}, b(9, 1.0);
    const Interval ratio = paired_ratio(a, b);
    EXPECT_EQ(ratio.low, 0.9);
    EXPECT_EQ(ratio.median, 1.1);
    EXPECT_EQ(ratio.high, 1.2);
}

struct Noise {
    double of_rounds, of_samples, alternating;
};

/// Return how many of 200 intervals contain the ratio 2.
int count_correct_intervals(std::size_t rounds, std::size_t samples, const Noise& noise) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    int correct = 0;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Round> timed;
        for (std::size_t i = 0; i < rounds; ++i) {
            const double of_round = noise.of_rounds * normal(engine) + (i % 2 ? 1 : -1) * noise.alternating;
            timed.emplace_back().b.assign(samples, 1);
            for (std::size_t k = 0; k < samples; ++k)
                timed.back().a.push_back(2 * (1 + of_round + noise.of_samples * normal(engine)));
        }
        const Interval ratio = warplab::paired_ratio(timed);
        correct += ratio.low <= 2 && 2 <= ratio.high;
    }
    return correct;
}

TEST(PairedRatio, IntervalContainsTheTrueRatioInAbout95Percent) {
    constexpr Noise of_samples{0, 0.02, 0}, of_rounds{0.005, 0.001, 0}, of_both{0.003, 0.003, 0},
        alternating{0.003, 0.003, 0.01};
    const auto expect_about_95_percent = [](int correct) {
        EXPECT_GE(correct, 178);
        EXPECT_LE(correct, 199);
    };
    expect_about_95_percent(count_correct_intervals(1, 15, of_samples));
    for (const std::size_t rounds : {4, 6, 10})
        for (const Noise& noise : {of_samples, of_rounds, of_both, alternating})
            expect_about_95_percent(count_correct_intervals(rounds, 3, noise));
}

TEST(PairedRatio, NeedsPairs) {
    EXPECT_THROW(paired_ratio(Values{}, Values{}), std::invalid_argument);
    EXPECT_THROW(paired_ratio(Values{1}, Values{1, 2}), std::invalid_argument);
}

TEST(PairedRatio, AlternatingAdvantagesCancelOut) {
    const std::vector<Round> rounds = {
        {{1.03, 1.03}, {1, 1}}, {{1, 1}, {1.03, 1.03}}, {{1.03, 1.03}, {1, 1}}, {{1, 1}, {1.03, 1.03}}};
    const Interval ratio = warplab::paired_ratio(rounds);
    EXPECT_NEAR(ratio.median, 1, 1e-12);
    EXPECT_NEAR(ratio.low, 1, 1e-12);
    EXPECT_NEAR(ratio.high, 1, 1e-12);
}

TEST(PairedRatio, IntervalCoversDifferencesBetweenRounds) {
    const std::vector<Round> rounds = {{{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}, {{1.1, 1.1}, {1, 1}}, {{1.1, 1.1}, {1, 1}}};
    const Interval ratio = warplab::paired_ratio(rounds);
    EXPECT_NEAR(ratio.median, std::sqrt(1.1), 1e-12);
    EXPECT_NEAR(std::log(ratio.high / ratio.median), 4.303 * std::log(1.1) / std::sqrt(8), 1e-12);
    EXPECT_NEAR(ratio.low * ratio.high, 1.1, 1e-12);
}

TEST(PairedRatio, OfARoundIsTheMedian) {
    const std::vector<Round> rounds = {{{1, 2, 30}, {1, 1, 10}}};
    EXPECT_EQ(warplab::paired_ratio(rounds).median, 2);
    EXPECT_THROW(paired_ratio(std::vector<Round>{}), std::invalid_argument);
    EXPECT_THROW(paired_ratio(std::vector<Round>{{{1}, {1}}, {{}, {}}}), std::invalid_argument);
}

TEST(PairedRatio, IsNanIfASampleIsNan) {
    const Interval ratio = paired_ratio(Values{0, 1}, Values{0, 1});
    EXPECT_TRUE(std::isnan(ratio.median) && std::isnan(ratio.low) && std::isnan(ratio.high));
}

TEST(SequentialRatio, OfASingleRoundHasTheTypicalSpreadOfRounds) {
    const Interval ratio = sequential_ratio(std::vector<Round>{{{2.01, 2.01, 2.01}, {1, 1, 1}}}, 0.01);
    EXPECT_DOUBLE_EQ(ratio.median, 2.01);
    EXPECT_NEAR(half_width(ratio), 0.039, 0.001);
}

TEST(SequentialRatio, WidensWithRoundsThatDifferMore) {
    const std::vector<Round> alike{{{1}, {1}}, {{1}, {1}}}, different{{{1}, {1}}, {{1.5}, {1}}};
    EXPECT_GT(half_width(sequential_ratio(different, 0.01)), 2 * half_width(sequential_ratio(alike, 0.01)));
}

TEST(SequentialRatio, WidensWithSamplesThatDiffer) {
    const auto width = [](std::vector<double> student) {
        const std::vector<double> reference(student.size(), 1);
        return half_width(sequential_ratio(std::vector<Round>{{student, reference}}, 0.01));
    };
    EXPECT_NEAR(width({1, 1.005, 1.002}), width({1}), 0.005);
    EXPECT_GT(width({1, 1.3, 1.1}), 0.2);
    EXPECT_GT(width({1, 1.3, 1.1}), 2 * width({1, 1.3, 1.1, 1, 1.3, 1.1, 1, 1.3, 1.1, 1, 1.3, 1.1, 1, 1.3, 1.1}));
    EXPECT_NEAR(width({1, 1, 1, 1, 7}), width({1}), 1e-9);  // one outlier does not matter
}

TEST(SequentialRatio, ContainsTheTrueRatioAfterEveryRound) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal(0, 0.01);
    int correct = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        std::vector<Round> rounds;
        bool always = true;
        for (int round = 0; round < 16; ++round) {
            rounds.push_back({{2 * std::exp(normal(engine))}, {1}});
            const Interval ratio = sequential_ratio(rounds, 0.01);
            always = always && ratio.low <= 2 && 2 <= ratio.high;
        }
        correct += always;
    }
    EXPECT_GE(correct, 990);
}

TEST(SequentialRatio, IsNanIfASampleIsNan) {
    EXPECT_TRUE(std::isnan(sequential_ratio(std::vector<Round>{{{0}, {0}}}, 0.01).median));
}

TEST(HalfWidth, IsRelativeToTheMedian) { EXPECT_DOUBLE_EQ(half_width({2, 1.9, 2.3}), 0.1); }

}  // namespace
}  // namespace warplab
