#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t poison = 0x7ff80a0bu;
enum Buffer { values, bins };

const Oracle& oracle() { return load_oracle("large_histogram"); }

struct Recipe {
    std::string generator = "bell";
    std::size_t histograms = 3, n = 20001, columns = 256, rows = 100;
};

Dataset dataset_of(const Recipe& recipe) {
    Parameters parameters = {{"histograms", whole(recipe.histograms)},
                             {"n", whole(recipe.n)},
                             {"columns", whole(recipe.columns)},
                             {"rows", whole(recipe.rows)}};
    if (recipe.generator == "bell" || recipe.generator == "two_bells" || recipe.generator == "corners")
        parameters["sigma_x"] = 12, parameters["sigma_y"] = 3;
    return make_dataset(recipe.generator, parameters);
}

Problem make_problem(const Recipe& recipe, std::uint64_t seed = 7) { return solve(oracle(), dataset_of(recipe), seed); }

using Counts = std::vector<std::uint32_t>;

Counts count(const Problem& problem) {
    const auto size = [&](std::size_t k) { return static_cast<std::size_t>(problem.sizes[k]); };
    Counts counts(size(0) * size(2) * size(3));
    const auto from = problem.arrays[values].as<std::uint32_t>();
    for (std::size_t i = 0; i < from.size(); ++i) ++counts[i / size(1) * size(2) * size(3) + from[i]];
    return counts;
}

std::uint32_t largest_count(const Problem& problem) {
    const Counts counts = count(problem);
    return *std::max_element(counts.begin(), counts.end());
}

Array bytes_of(const std::vector<std::uint8_t>& bytes) {
    Array array(ElementType::uint8, bytes.size());
    std::copy(bytes.begin(), bytes.end(), array.as<std::uint8_t>().begin());
    return array;
}

Array zeros(std::size_t count) { return bytes_of(std::vector<std::uint8_t>(count)); }

const std::vector<Recipe> every_generator = {{"bell"},      {"two_bells"},  {"corners"}, {"uniform"},
                                             {"one_value"}, {"neighbours"}, {"edges"},   {"counts"}};

TEST(LargeHistogramOracle, ReferencesAndCountsAgree) {
    for (const Recipe& recipe : every_generator) {
        Problem problem = make_problem(recipe);
        const Array sequential = problem.arrays[bins].clone();
        oracle().reference(problem, Execution::openmp);
        EXPECT_EQ(std::memcmp(sequential.data(), problem.arrays[bins].data(), sequential.bytes()), 0)
            << recipe.generator;
        const Counts counts = count(problem);
        for (std::size_t b = 0; b < counts.size(); ++b)
            ASSERT_EQ(sequential.as<std::uint8_t>()[b], std::min(counts[b], 127u)) << recipe.generator;
    }
}

TEST(LargeHistogramOracle, PartsEqualSlicesOfTheWhole) {
    const Problem problem = make_problem({});
    const auto whole = problem.arrays[bins].as<std::uint8_t>();
    for (const std::size_t first : {std::size_t{0}, std::size_t{25599}, std::size_t{30000}}) {
        Array part(ElementType::uint8, 40000);
        ASSERT_TRUE(oracle().reference_part(problem, bins, first, part.count(), part));
        EXPECT_EQ(std::memcmp(part.data(), whole.data() + first, part.bytes()), 0) << first;
    }
}

TEST(LargeHistogramOracle, BinsAreExactOnlyBelowTheCap) {
    const Problem problem = make_problem({});
    EXPECT_TRUE(oracle().accepts(problem, bins, 0, 126, 126));
    EXPECT_FALSE(oracle().accepts(problem, bins, 0, 126, 127));
    EXPECT_FALSE(oracle().accepts(problem, bins, 0, 0, 127));
    for (const double actual : {127, 128, 200, 255}) EXPECT_TRUE(oracle().accepts(problem, bins, 0, 127, actual));
    EXPECT_FALSE(oracle().accepts(problem, bins, 0, 127, 126));
    EXPECT_FALSE(oracle().accepts(problem, bins, 0, 127, 0));
}

TEST(LargeHistogramOracle, GeneratorsMakeTheNamedDistributions) {
    EXPECT_EQ(largest_count(make_problem({"one_value"})), 20001u);
    EXPECT_GT(largest_count(make_problem({"neighbours"})), 9000u);
    EXPECT_LT(largest_count(make_problem({"uniform"})), 20u);
    const Counts counts = count(make_problem({"counts"}));
    for (const std::uint32_t expected : {126, 127, 128, 255, 256, 257})
        EXPECT_NE(std::find(counts.begin(), counts.end(), expected), counts.end()) << expected;
}

TEST(LargeHistogramOracle, EachHistogramHasItsOwnCentre) {
    const Problem problem = make_problem({});
    const auto inputs = problem.arrays[values].as<std::uint32_t>();
    std::vector<double> centres;
    for (std::size_t h = 0; h < 3; ++h) {
        double sum = 0;
        for (std::size_t i = 0; i < 20001; ++i) sum += inputs[h * 20001 + i] % 256;
        centres.push_back(sum / 20001);
    }
    EXPECT_GT(std::abs(centres[0] - centres[1]), 3);
    EXPECT_GT(std::abs(centres[1] - centres[2]), 3);
}

TEST(LargeHistogramOracle, RefusesInvalidRecipes) {
    EXPECT_THROW(make_problem({"bel"}), ManifestError);
    EXPECT_THROW(make_problem({"bell", 0}), ManifestError);
    EXPECT_THROW(make_problem({"bell", 1, 100, 100}), ManifestError);
    EXPECT_THROW(make_problem({"bell", 1, 100, 256, 1025}), ManifestError);
}

/// A mistake, and the bytes that a kernel with this mistake computes. A byte that the kernel does not write keeps
/// `before`.
struct Mistake {
    std::string name;
    Recipe recipe;
    std::function<std::uint32_t(const Counts& counts, std::size_t b, std::uint8_t before)> run;
    std::string cause, message;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class LargeHistogramMistake : public testing::TestWithParam<Mistake> {};

TEST_P(LargeHistogramMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem(mistake.recipe);
    const Counts counts = count(problem);
    const Array before = [&] {
        Array array(ElementType::uint8, counts.size());
        for (std::size_t b = 0; b < counts.size(); ++b)
            array.as<std::uint8_t>()[b] = static_cast<std::uint8_t>(poison >> (8 * (b % 4)));
        return array;
    }();
    std::vector<std::uint8_t> actual;
    for (std::size_t b = 0; b < counts.size(); ++b)
        actual.push_back(static_cast<std::uint8_t>(mistake.run(counts, b, before.as<std::uint8_t>()[b])));
    const auto hypothesis = explain(oracle(), problem, bins, before, bytes_of(actual));
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, mistake.cause);
    EXPECT_THAT(hypothesis->message, HasSubstr(mistake.message));
}

std::uint32_t cap(std::uint32_t count) { return std::min(count, 127u); }
std::uint32_t count_on(std::uint32_t before, std::uint32_t count) { return std::max(before, cap(before + count)); }
std::size_t row(std::size_t b) { return b % 25600 / 256; }

INSTANTIATE_TEST_SUITE_P(
    Mistakes, LargeHistogramMistake,
    testing::Values(
        Mistake{"NotCleared",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t before) { return count_on(before, c[b]); },
                "not_cleared",
                "bins that no value falls into hold what they held"},
        Mistake{"HalfNotCleared",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t before) {
                    return row(b) < 50 ? cap(c[b]) : count_on(before, c[b]);
                },
                "not_cleared",
                "others are cleared"},
        Mistake{"Carry",
                {"neighbours"},
                [](const Counts& c, std::size_t b, std::uint8_t) {
                    const std::size_t first = b / 4 * 4;
                    const std::uint32_t word =
                        c[first] + (c[first + 1] << 8) + (c[first + 2] << 16) + (c[first + 3] << 24);
                    return word >> (8 * (b % 4)) & 255;
                },
                "carry",
                "carried into its neighbour"},
        Mistake{"Wrapped",
                {"counts"},
                [](const Counts& c, std::size_t b, std::uint8_t) { return c[b] & 255; },
                "wrapped",
                "wrapped around to 0"},
        Mistake{"CapTooLow",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return std::min(c[b], 100u); },
                "cap_too_low",
                "No bin goes beyond 100"},
        Mistake{"Twice",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return cap(2 * c[b]); },
                "counted_twice",
                "twice the right count"},
        Mistake{"OneHistogram",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) {
                    return b < 25600 ? cap(c[b] + c[b + 25600] + c[b + 51200]) : 0;
                },
                "one_histogram",
                "in the first one"},
        Mistake{"SameValues",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return cap(c[b % 25600]); },
                "same_values",
                "Every histogram is that of the first one's values"},
        Mistake{"ShareLost",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) { return b % 25600 < 19200 ? cap(c[b]) : 0; },
                "share_lost",
                "part 3 of 4"},
        Mistake{"RowsLost",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) { return row(b) % 4 != 1 ? cap(c[b]) : 0; },
                "share_lost",
                "rows whose number modulo 4 is 1"},
        Mistake{"WindowLost",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) {
                    return row(b) >= 20 && row(b) < 60 && b % 256 >= 32 && b % 256 < 128 ? 0 : cap(c[b]);
                },
                "window_lost",
                "rows 20 to 59, columns 32 to 127"},
        Mistake{"Shifted",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return b < 16 ? 0 : cap(c[b - 16]); },
                "window_misplaced",
                "16 columns and 0 rows away"},
        Mistake{"ShiftedByManyRows",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return b < 5120 ? 0 : cap(c[b - 5120]); },
                "window_misplaced",
                "20 rows away in histogram 0"},
        Mistake{"Nothing",
                {},
                [](const Counts&, std::size_t, std::uint8_t) { return 0; },
                "nothing_counted",
                "no value is counted at all"},
        Mistake{"SharesLost",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) { return b % 25600 < 6400 ? cap(c[b]) : 0; },
                "share_lost",
                "part 1, 2, 3 of 4"},
        Mistake{"NearlyAllLost",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) { return b < 40 ? cap(c[b]) : 0; },
                "bins_lost",
                "into which values fall are 0, and all others are right"},
        Mistake{"MaskMissing",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) {
                    for (std::size_t later = b + 1; later % 4; ++later)
                        if (c[later]) return c[b] / 2;
                    return cap(c[b]);
                },
                "mask_missing",
                "share their word with a later bin"},
        Mistake{"ShiftedByBits",
                {"uniform"},
                [](const Counts& c, std::size_t b, std::uint8_t) {
                    return b % 4 ? 0 : c[b] + 2 * c[b + 1] + 4 * c[b + 2] + 8 * c[b + 3];
                },
                "shifted_by_bits",
                "in its first byte"},
        Mistake{"Lost",
                {},
                [](const Counts& c, std::size_t b, std::uint8_t) { return cap(c[b]) - (c[b] > 3 && b % 7 == 2); },
                "lost_updates",
                "and no bin holds too many"}),
    [](const auto& info) { return info.param.name; });

TEST(LargeHistogramOracle, ExplainsATailThatBeginsTooEarly) {
    const Problem problem = make_problem({});
    const std::size_t n = 20001;
    Counts counts = count(problem);
    const auto inputs = problem.arrays[values].as<std::uint32_t>();
    for (std::size_t h = 0; h < 3; ++h) {
        const std::size_t head = (4 - h * n % 4) % 4, vectors = (n - head) / 4 * 4;
        for (std::size_t i = vectors; i < vectors + head; ++i) ++counts[h * 25600 + inputs[h * n + i]];
    }
    std::vector<std::uint8_t> actual;
    for (const std::uint32_t value : counts) actual.push_back(static_cast<std::uint8_t>(cap(value)));
    const auto hypothesis = explain(oracle(), problem, bins, zeros(counts.size()), bytes_of(actual));
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, "tail_twice") << hypothesis->message;
}

TEST(LargeHistogramOracle, ExplainsLostValues) {
    const Recipe recipe{"uniform", 3, 1003, 256, 100};
    const Problem problem = make_problem(recipe);
    const auto explain_without = [&](const std::function<bool(std::size_t h, std::size_t i)>& lost) {
        Counts counts(3 * 25600);
        for (std::size_t h = 0; h < 3; ++h)
            for (std::size_t i = 0; i < recipe.n; ++i)
                if (!lost(h, i)) ++counts[h * 25600 + problem.arrays[values].as<std::uint32_t>()[h * recipe.n + i]];
        const Array before = zeros(counts.size());
        return explain(oracle(), problem, bins, before, bytes_of({counts.begin(), counts.end()}));
    };
    EXPECT_EQ(explain_without([](std::size_t, std::size_t i) { return i >= 1000; })->cause, "vector_tail_lost");
    EXPECT_EQ(explain_without([](std::size_t h, std::size_t i) { return i < (4 - h * 1003 % 4) % 4; })->cause,
              "head_lost");
    EXPECT_THAT(explain_without([](std::size_t, std::size_t i) { return i >= 768; })->message, HasSubstr("3 x 256"));
    EXPECT_THAT(explain_without([](std::size_t, std::size_t i) { return i % 384 >= 128; })->message,
                HasSubstr("Of every 384 values of each histogram only the first 128 are counted"));
    EXPECT_EQ(explain_without([](std::size_t, std::size_t i) { return i >= 4 + 256 - 1; })->cause,
              "block_size_forgotten");
    EXPECT_EQ(explain_without([](std::size_t h, std::size_t i) { return (h * 1003 + i) % 4 == 2; })->cause,
              "component_forgotten");
}

TEST(LargeHistogramOracle, ExplainsResultsOfThePreviousCall) {
    const Problem previous = make_problem({}, 1), problem = make_problem({}, 2);
    const Array before = zeros(problem.arrays[bins].count());
    EXPECT_EQ(explain(oracle(), problem, bins, before, previous.arrays[bins], &previous)->cause, "stale_result");
}

TEST(LargeHistogramOracle, ExplainsWindowsOnlyInStagesWithSharedMemory) {
    const Problem problem = make_problem({"uniform"});
    const Counts counts = count(problem);
    std::vector<std::uint8_t> outputs;
    for (std::size_t b = 0; b < counts.size(); ++b) {
        const bool is_inside = row(b) >= 20 && row(b) < 60 && b % 256 >= 32 && b % 256 < 128;
        outputs.push_back(static_cast<std::uint8_t>(is_inside ? 0 : cap(counts[b])));
    }
    const auto cause_in = [&](const std::string& stage) {
        std::vector<Array> arrays_before = problem.arrays, arrays_after = problem.arrays;
        arrays_before[bins] = bytes_of(std::vector<std::uint8_t>(outputs.size(), 77));
        arrays_after[bins] = bytes_of(outputs);
        return oracle().hypotheses({problem, arrays_before, arrays_after, nullptr, 0, stage}).at(0).cause;
    };
    EXPECT_EQ(cause_in("04_interleaved_shared"), "window_lost");
    EXPECT_EQ(cause_in("02_split_blocks"), "bins_lost");
}

TEST(LargeHistogramOracle, DoesNotExplainArbitraryOutputs) {
    const Problem problem = make_problem({});
    std::vector<std::uint8_t> actual;
    for (std::size_t b = 0; b < problem.arrays[bins].count(); ++b)
        actual.push_back(static_cast<std::uint8_t>(b * 37 % 101));
    const Array before = zeros(actual.size());
    EXPECT_FALSE(explain(oracle(), problem, bins, before, bytes_of(actual)));
}

}  // namespace
}  // namespace warplab::test
