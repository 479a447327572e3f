#include "grader/core/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace warplab {
namespace {

using Values = std::vector<double>;

Interval paired_ratio(const Values& a, const Values& b, std::uint64_t seed = 1) {
    return warplab::paired_ratio(std::vector<Round>{{a, b}}, seed);
}

TEST(Median, IsTheMiddle) {
    EXPECT_EQ(median(Values{3}), 3);
    EXPECT_EQ(median(Values{5, 1, 3}), 3);
    EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median(Values{1, 1, 1, 100}), 1);
}

TEST(Median, OfNothingOrNanIsNan) {
    EXPECT_TRUE(std::isnan(median(Values{})));
    EXPECT_TRUE(std::isnan(median(Values{1, std::numeric_limits<double>::quiet_NaN(), 2})));
}

TEST(Median, LeavesTheValuesAsTheyAre) {
    const Values values = {5, 1, 3};
    median(values);
    EXPECT_EQ(values, (Values{5, 1, 3}));
}

TEST(PairedRatio, IsOfPairsNotOfMedians) {
    // Each pair has the ratio 2, however the machine's speed wanders.
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

TEST(PairedRatio, RepeatsForASeed) {
    const Values a = {1.0, 1.1, 1.3, 0.9, 1.2, 1.05}, b(6, 1.0);
    const Interval one = paired_ratio(a, b, 7), two = paired_ratio(a, b, 7);
    EXPECT_EQ(one.low, two.low);
    EXPECT_EQ(one.high, two.high);
    EXPECT_LT(one.low, one.median);
    EXPECT_LT(one.median, one.high);
    EXPECT_GE(one.low, 0.9);
    EXPECT_LE(one.high, 1.3);
}

TEST(PairedRatio, IntervalHoldsTheTruthAboutAsOftenAsItSays) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> noise(0, 0.05);
    int held = 0;
    constexpr int trials = 100;
    for (int trial = 0; trial < trials; ++trial) {
        Values a(15), b(15, 1.0);
        for (double& value : a) value = 2 + noise(engine);
        const Interval ratio = paired_ratio(a, b);
        held += ratio.low <= 2 && 2 <= ratio.high;
    }
    EXPECT_GE(held, trials * 88 / 100);
    EXPECT_LE(held, trials * 995 / 1000);
}

TEST(PairedRatio, NeedsPairs) {
    EXPECT_THROW(paired_ratio(Values{}, Values{}), std::invalid_argument);
    EXPECT_THROW(paired_ratio(Values{1}, Values{1, 2}), std::invalid_argument);
}

TEST(PairedRatio, WhatFavoursOneInEachOtherRoundCancels) {
    const std::vector<Round> rounds = {
        {{1.03, 1.03}, {1, 1}}, {{1, 1}, {1.03, 1.03}}, {{1.03, 1.03}, {1, 1}}, {{1, 1}, {1.03, 1.03}}};
    const Interval ratio = warplab::paired_ratio(rounds);
    EXPECT_NEAR(ratio.median, 1, 1e-12);
    EXPECT_NEAR(ratio.low, 1, 1e-12);
    EXPECT_NEAR(ratio.high, 1, 1e-12);
}

TEST(PairedRatio, IntervalHoldsWhatDiffersBetweenRounds) {
    const std::vector<Round> rounds = {{{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}, {{1.1, 1.1}, {1, 1}}, {{1.1, 1.1}, {1, 1}}};
    const Interval ratio = warplab::paired_ratio(rounds);
    EXPECT_NEAR(ratio.median, std::sqrt(1.1), 1e-12);
    EXPECT_NEAR(ratio.low, 1, 1e-12);
    EXPECT_NEAR(ratio.high, 1.1, 1e-12);
}

TEST(PairedRatio, OfARoundIsItsMedian) {
    const std::vector<Round> one = {{{1, 2, 30}, {1, 1, 10}}};
    EXPECT_EQ(warplab::paired_ratio(one).median, 2);
    EXPECT_THROW(paired_ratio(std::vector<Round>{}), std::invalid_argument);
    EXPECT_THROW(paired_ratio(std::vector<Round>{{{1}, {1}}, {{}, {}}}), std::invalid_argument);
}

TEST(PairedRatio, NanStaysVisible) {
    const Interval ratio = paired_ratio(Values{0, 1}, Values{0, 1});
    EXPECT_TRUE(std::isnan(ratio.median) && std::isnan(ratio.low) && std::isnan(ratio.high));
}

TEST(HalfWidth, IsRelativeToTheMedian) { EXPECT_DOUBLE_EQ(half_width({2, 1.9, 2.3}), 0.1); }

}  // namespace
}  // namespace warplab
