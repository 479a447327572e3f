#include "grader/judge/lab/census.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

Nouns make_nouns(const std::string& elements, const std::string& use) {
    Nouns nouns;
    nouns.elements = elements;
    nouns.done = use;
    return nouns;
}

/// Take the census of `times.size()` elements, of which element i is used times[i] times.
std::vector<ElementRun> census_of(const std::vector<std::uint64_t>& times, int max_calls = 1000) {
    const auto spend = [&max_calls] { return max_calls-- > 0; };
    const Census census{times.size(), [&](std::size_t i) { return spend() ? std::optional(times[i]) : std::nullopt; },
                        [&](const ElementRun& run) -> std::optional<bool> {
                            if (!spend()) return std::nullopt;
                            for (std::size_t i = run.begin; i < run.end; ++i)
                                if (times[i] != run.times) return false;
                            return true;
                        }};
    return take_census(census, 9);
}

std::string words(const std::vector<std::uint64_t>& times) {
    return describe_census(census_of(times), times.size(), "product", make_nouns("products", "in the sum"));
}

TEST(Census, FindsRunsOfElementsThatAreUsedEquallyOften) {
    EXPECT_EQ(census_of({2, 1, 1, 1, 0, 0}), (std::vector<ElementRun>{{0, 1, 2}, {1, 4, 1}, {4, 6, 0}}));
    EXPECT_EQ(census_of({1, 1, 1}), (std::vector<ElementRun>{{0, 3, 1}}));
}

TEST(Census, KeepsResultsIfTheTimeIsUp) {
    std::vector<std::uint64_t> times(1000, 1);
    times[0] = 2;
    EXPECT_EQ(census_of(times, 4), (std::vector<ElementRun>{{0, 1, 2}}));
    EXPECT_TRUE(census_of(times, 0).empty());
}

TEST(Census, NamesTheRuns) {
    EXPECT_EQ(words({2, 1, 1, 1, 0, 0}),
              "Product 0 is in the sum twice, products 1 to 3 once, products from 4 on not "
              "at all.");
    EXPECT_EQ(words({1, 1, 1}), "");
    EXPECT_EQ(words({0, 1}), "Product 0 is in the sum not at all, product 1 once.");
}

TEST(Census, NamesThePeriod) {
    std::vector<std::uint64_t> times(64, 1);
    for (std::size_t i = 0; i < times.size(); i += 8) times[i] = 2;
    EXPECT_EQ(words(times),
              "Product 0 is in the sum twice, products 1 to 7 once; likewise in each group of 8 products.");
    times[16] = 3;
    EXPECT_EQ(words(times).find("likewise"), std::string::npos);
}

/// Investigate a histogram of n values below 4 that omits element `lost` (none if it is n) and, if `wrong_bin`, counts
/// the value 3 as 2.
std::string investigate(std::size_t n, std::size_t lost, bool wrong_bin) {
    Histogram histogram;
    histogram.n = n;
    histogram.values = 4;
    histogram.element = "pixel";
    histogram.set = [](Problem& problem, std::size_t i, std::uint32_t value) {
        problem.arrays[0].as<std::uint32_t>()[i] = value;
    };
    histogram.bin = [](std::size_t, std::uint32_t value) { return value; };
    histogram.name = [](std::size_t bin) { return sentence("bin {}", bin); };
    const Problem problem{{}, {}, {Array(ElementType::uint32, n), Array(ElementType::uint32, 4)}};
    return investigate_counts(histogram, make_nouns("pixels", "counted"), problem,
                              [&](const Problem& input) -> std::optional<std::vector<Array>> {
                                  Array bins(ElementType::uint32, 4);
                                  for (std::size_t i = 0; i < n; ++i) {
                                      const std::uint32_t value = input.arrays[0].as<std::uint32_t>()[i];
                                      if (i == lost) continue;
                                      ++bins.as<std::uint32_t>()[wrong_bin && value == 3 ? 2 : value];
                                  }
                                  return std::vector<Array>{input.arrays[0], bins};
                              });
}

TEST(Census, FindsTheElementThatIsNotCounted) {
    EXPECT_EQ(investigate(100, 99, false), "Pixels 0 to 98 are counted once, pixel 99 not at all.");
    EXPECT_EQ(investigate(100, 100, false), "");
}

TEST(Census, FindsTheValueThatIsCountedInAnotherBin) {
    EXPECT_NE(investigate(100, 100, true).find("is 3 and all others are 0, bin 3 is 0, and bin 2 is 1."),
              std::string::npos)
        << investigate(100, 100, true);
}

}  // namespace
}  // namespace warplab
