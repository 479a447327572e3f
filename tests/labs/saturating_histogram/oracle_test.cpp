#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <ostream>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

enum Buffer { input, bins };
constexpr std::size_t bin_count = 1024;
using Bins = std::vector<std::uint8_t>;
using Counts = std::vector<std::uint64_t>;

const Oracle& oracle() { return load_oracle("saturating_histogram"); }

Problem make_problem(const std::string& generator, std::size_t width, std::size_t height, std::uint64_t seed = 7,
                     Parameters more = {}) {
    more["width"] = whole(width);
    more["height"] = whole(height);
    return solve(oracle(), make_dataset(generator, std::move(more)), seed);
}

std::size_t pitch_of(const Problem& problem) { return static_cast<std::size_t>((problem.sizes[0] + 128) & ~127); }

std::vector<std::uint32_t> elements(const Problem& problem) {
    std::vector<std::uint32_t> values;
    const auto cells = problem.arrays[input].as<std::uint32_t>();
    for (std::size_t y = 0; y < static_cast<std::size_t>(problem.sizes[1]); ++y)
        for (std::size_t x = 0; x < static_cast<std::size_t>(problem.sizes[0]); ++x)
            values.push_back(cells[y * pitch_of(problem) + x]);
    return values;
}

Counts count(const std::vector<std::uint32_t>& values) {
    Counts counts(bin_count);
    for (const std::uint32_t value : values) ++counts.at(value);
    return counts;
}

Bins saturate(const Counts& counts) {
    Bins result;
    for (const std::uint64_t c : counts) result.push_back(static_cast<std::uint8_t>(c < 255 ? c : 255));
    return result;
}

Bins answer(const Problem& problem) {
    const auto bytes = problem.arrays[bins].as<std::uint8_t>();
    return {bytes.begin(), bytes.end()};
}

TEST(SaturatingHistogramOracle, ReferencesAgreeWithPlainCounting) {
    for (const char* generator : {"walk", "uniform", "late", "edges"}) {
        Problem problem = make_problem(generator, 403, 517);
        EXPECT_EQ(answer(problem), saturate(count(elements(problem)))) << generator;
        const Bins sequential = answer(problem);
        oracle().reference(problem, Execution::openmp);
        EXPECT_EQ(answer(problem), sequential) << generator;
    }
}

TEST(SaturatingHistogramOracle, WalkEqualsThatOfTheCLibrarysGenerator) {
    const Problem problem = make_problem("walk", 301, 40, 0);
    srand48(0);
    int first = 512, value = first;
    std::size_t steps = 0, stays = 0, x = 0;
    for (const std::uint32_t element : elements(problem)) {
        if (x == 0) value = first;
        const double u1 = drand48(), u2 = drand48();
        const int step = static_cast<int>((u1 - 0.5) * (u2 - 0.5) * 4 * 2 * 2);
        value = std::clamp(value + step, 0, 1023);
        if (x == 0) first = value;
        ASSERT_EQ(element, static_cast<std::uint32_t>(value)) << steps;
        ++steps;
        stays += step == 0;
        x = (x + 1) % 301;
    }
    EXPECT_NEAR(static_cast<double>(stays) / static_cast<double>(steps), 0.6, 0.02);
}

TEST(SaturatingHistogramOracle, FewerThanHalfOfTheBinsAreFullAfterTheTimedWalk) {
    for (const std::uint64_t seed : {7, 8, 9}) {
        const Problem problem = make_problem("walk", 3984, 4096, seed);
        const auto bytes = problem.arrays[bins].as<std::uint8_t>();
        const auto full = std::count(bytes.begin(), bytes.end(), 255);
        EXPECT_GT(full, 0);
        EXPECT_LT(full, 512) << "seed " << seed << ": the handout states this";
    }
}

TEST(SaturatingHistogramOracle, UniformLeavesExactlyOneBinEmpty) {
    const Counts counts = count(elements(make_problem("uniform", 1000, 100)));
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 0u), 1);
}

TEST(SaturatingHistogramOracle, EdgeCasesHaveTheExpectedCounts) {
    const Counts counts = count(elements(make_problem("edges", 673, 669)));
    for (const std::uint64_t expected : {0, 1, 253, 254, 255, 256, 257, 512})
        EXPECT_GT(std::count(counts.begin(), counts.end(), expected), 20) << expected;
    EXPECT_THROW(make_problem("edges", 10, 10), ManifestError);
}

TEST(SaturatingHistogramOracle, PaddingContainsValidBinsOrAnyValues) {
    for (const char* padding : {"bins", "any"}) {
        const Problem problem = make_problem("uniform", 100, 50, 7, {{"padding", padding}});
        const auto cells = problem.arrays[input].as<std::uint32_t>();
        EXPECT_EQ(cells.size(), 128u * 50);
        std::size_t without_bin = 0;
        for (const std::uint32_t cell : cells) without_bin += cell >= bin_count;
        EXPECT_EQ(without_bin > 0, std::string(padding) == "any");
    }
}

TEST(SaturatingHistogramOracle, EveryWindowOfAPoolIsAnInput) {
    const Dataset dataset = make_dataset("walk", {{"width", 3984}, {"height", 4}, {"padding", "any"}});
    const std::size_t step = oracle().window_step();
    const Problem pool = oracle().generate(dataset, 0, 5 * step);
    EXPECT_EQ(step, pitch_of(pool));
    const auto cells = pool.arrays[input].as<std::uint32_t>();
    EXPECT_EQ(cells.size(), 9 * step);
    for (const std::uint32_t cell : cells) ASSERT_LT(cell, bin_count);
}

TEST(SaturatingHistogramOracle, RefusesInvalidRecipes) {
    EXPECT_THROW(make_problem("uniofrm", 10, 10), ManifestError);
    EXPECT_THROW(make_problem("few", 10, 10), ManifestError);
    EXPECT_THROW(make_problem("few", 10, 10, 7, {{"values", 0}}), ManifestError);
    EXPECT_THROW(make_problem("uniform", 10, 10, 7, {{"padding", "none"}}), ManifestError);
}

/// A mistake, and the bins after a kernel with this mistake. Before the call, each bin contains 3.
struct Mistake {
    std::string name;
    std::function<Bins(const Problem& problem)> run;
    std::string cause, message;
    std::string generator = "uniform";
    std::size_t width = 403, height = 251;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class SaturatingHistogramMistake : public testing::TestWithParam<Mistake> {};

Array bins_array(const Bins& values) {
    Array array(ElementType::uint8, bin_count);
    std::copy(values.begin(), values.end(), array.as<std::uint8_t>().begin());
    return array;
}

std::optional<Hypothesis> explain_bins(const Problem& problem, const Bins& actual, const Problem* previous = nullptr) {
    return explain(oracle(), problem, bins, bins_array(Bins(bin_count, 3)), bins_array(actual), previous);
}

TEST_P(SaturatingHistogramMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem(mistake.generator, mistake.width, mistake.height);
    const auto hypothesis = explain_bins(problem, mistake.run(problem));
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, mistake.cause) << hypothesis->message;
    EXPECT_THAT(hypothesis->message, HasSubstr(mistake.message));
}

/// Return a function that counts elements: element i of n counts `times(i, n)` times.
auto count_times(std::function<std::uint64_t(std::size_t i, std::size_t n)> times) {
    return [times](const Problem& problem) {
        const auto values = elements(problem);
        Counts counts(bin_count);
        for (std::size_t i = 0; i < values.size(); ++i) counts[values[i]] += times(i, values.size());
        return saturate(counts);
    };
}

/// Return a function that gives the right counts, each changed by `change`.
auto change_counts(std::function<std::uint64_t(std::uint64_t)> change) {
    return [change](const Problem& problem) {
        Bins result;
        for (const std::uint64_t c : count(elements(problem))) result.push_back(static_cast<std::uint8_t>(change(c)));
        return result;
    };
}

/// If `threads` threads stride over n elements, return the round of element i and the number of its thread's rounds.
std::pair<std::size_t, std::size_t> round_of(std::size_t i, std::size_t n, std::size_t threads) {
    return {i / threads, (n - 1 - i % threads) / threads + 1};
}

INSTANTIATE_TEST_SUITE_P(
    All, SaturatingHistogramMistake,
    testing::Values(
        Mistake{"NotCleared", change_counts([](auto c) { return std::min<std::uint64_t>(c + 3, 255); }), "not_cleared",
                "held 3"},
        Mistake{"AllFull", change_counts([](auto) { return 255; }), "all_full", "Every bin is 255"},
        Mistake{"NothingCounted", change_counts([](auto) { return 0; }), "nothing_counted", "Every bin is 0"},
        Mistake{"Wraps", change_counts([](auto c) { return c; }), "wraps_around", "modulo 256", "edges", 673, 669},
        Mistake{"CapOf256", change_counts([](auto c) { return std::min<std::uint64_t>(c, 256); }), "wrong_cap",
                "256 in 8 bits is 0", "edges", 673, 669},
        Mistake{"CapOf127", change_counts([](auto c) { return std::min<std::uint64_t>(c, 127); }), "wrong_cap",
                "stop at 127"},
        Mistake{"SomeStopAt254", change_counts([](auto c) { return c < 255 ? c
                                                                   : c % 3 ? 254
                                                                           : 255; }), "wrong_cap",
                "hold 254.", "edges", 673, 669},
        Mistake{"SumWraps", change_counts([](auto c) { return c < 255 ? c : 200 + c % 50; }), "sum_not_saturated",
                "Bins below 255 are right", "edges", 673, 669},
        Mistake{"OneBinEmpty",
                [](const Problem& problem) {
                    Bins result = change_counts([](auto c) { return std::min<std::uint64_t>(c, 255); })(problem);
                    result[700] = 0;
                    return result;
                },
                "bins_missing", "All bins are right except one: bin 700 occurs "},
        Mistake{"BlocksOf1024RoundedDown", count_times([](auto i, auto n) { return i < n / 1024 * 1024; }), "tail_lost",
                "Only the first 100,352 of 101,153"},
        Mistake{"RowsLost", count_times([](auto i, auto) { return i < 403 * 248; }), "tail_lost",
                "Only the first 99,9"},
        Mistake{"StoppedEarly", count_times([](auto i, auto) { return i < 29000; }), "stopped_early",
                "then the bins of all values so far were full", "late", 512, 64},
        Mistake{"WholeVectorsOnly", count_times([](auto i, auto) { return i % 403 < 400; }), "vector_tail_lost",
                "400 of 403"},
        Mistake{"ComponentLost", count_times([](auto i, auto) { return i % 403 % 4 != 2; }), "component_lost",
                "the third is not counted"},
        Mistake{"OneComponent", count_times([](auto i, auto) { return i % 403 % 4 == 1; }), "component_lost",
                "only the second is counted"},
        Mistake{"StepsOfFourOnly", count_times([](auto i, auto n) {
                    const auto [round, rounds] = round_of(i, n, 13 * 1024);
                    return round < rounds / 4 * 4;
                }),
                "tail_lost", "whole steps of 4"},
        Mistake{"LastTwoOfTwelve", count_times([](auto i, auto n) {
                    const auto [round, rounds] = round_of(i, n, 3 * 1024);
                    return round >= rounds / 12 * 12 || round % 12 < 10;
                }),
                "step_index", "Of every 12 elements that a thread takes in a step the last two are not counted"},
        Mistake{"FirstFourTimes", count_times([](auto i, auto n) {
                    const auto [round, rounds] = round_of(i, n, 3 * 1024);
                    return round >= rounds / 4 * 4 ? 1 : round % 4 == 0 ? 4 : 0;
                }),
                "step_index", "counts its first element 4 times"},
        Mistake{"OneBlock", count_times([](auto i, auto) { return i / 1024 % 7 == 5; }), "one_block_only",
                "block 5 of 7"},
        Mistake{"NoBlockSize", count_times([](auto i, auto) -> std::uint64_t {  // 99 blocks of 1024 threads
                    return i < 1122 ? std::min<std::uint64_t>({i + 1, 1122 - i, 99}) : 0;
                }),
                "block_size_forgotten", "Only the first 1,122 elements"},
        Mistake{"Position",
                [](const Problem& problem) {
                    Counts counts(bin_count);
                    const std::size_t n = elements(problem).size();
                    for (std::size_t i = 0; i < n; ++i) ++counts[i % 1024];
                    return saturate(counts);
                },
                "position_counted", "element i is in bin i % 1024"},
        Mistake{"Shifted",
                [](const Problem& problem) {
                    Bins shifted = answer(problem);
                    std::copy(shifted.begin(), shifted.end() - 1, shifted.begin() + 1);
                    return shifted;
                },
                "shifted", "the bin after its own"},
        Mistake{"PaddingCounted",
                [](const Problem& problem) {
                    const auto cells = problem.arrays[input].as<std::uint32_t>();
                    return saturate(count({cells.begin(), cells.end()}));
                },
                "padding_counted", "of every row 512 elements, and there are 403"}),
    [](const auto& info) { return info.param.name; });

TEST(SaturatingHistogramOracle, ExplainsResultsOfThePreviousCall) {
    const Problem previous = make_problem("uniform", 301, 97, 1), problem = make_problem("uniform", 301, 97, 2);
    EXPECT_EQ(explain_bins(problem, answer(previous), &previous)->cause, "stale_result");
    Counts sums = count(elements(problem));
    const Counts before = count(elements(previous));
    for (std::size_t b = 0; b < bin_count; ++b) sums[b] += before[b];
    EXPECT_EQ(explain_bins(problem, saturate(sums), &previous)->cause, "not_cleared");
}

TEST(SaturatingHistogramOracle, ExplainsBinsThatAreNotWrittenWithoutElements) {
    for (const std::size_t height : {0, 5})
        EXPECT_EQ(explain_bins(make_problem("uniform", 0, height), Bins(bin_count, 3))->cause, "empty_not_written");
}

TEST(SaturatingHistogramOracle, SuspectsThatFullBinsAreOmittedIfOnlyThoseOccur) {
    const Bins zeros(bin_count, 0);
    const Parameters one_value = {{"values", whole(1)}};
    EXPECT_EQ(explain_bins(make_problem("few", 301, 97, 7, one_value), zeros)->cause, "full_bin_wrong");
    EXPECT_EQ(explain_bins(make_problem("few", 10, 10, 7, one_value), zeros)->cause, "nothing_counted");
}

TEST(SaturatingHistogramOracle, DoesNotExplainArbitraryBins) {
    const Problem problem = make_problem("uniform", 403, 251);
    Bins wrong = answer(problem);
    wrong[17] += 5;
    wrong[400] -= 3;
    EXPECT_FALSE(explain_bins(problem, wrong));
}

}  // namespace
}  // namespace warplab::test
