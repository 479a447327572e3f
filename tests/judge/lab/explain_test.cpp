#include "grader/judge/lab/explain.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

namespace warplab {
namespace {

const Nouns nouns{"elements", "counted"};

TEST(Sentence, SeparatesThousandsOfUnsignedNumbersOnly) {
    EXPECT_EQ(sentence("{} of {}: {}, {:.1f}", std::size_t{1000}, 1234567u, -1000, 0.25),
              "1,000 of 1,234,567: -1000, 0.2");
}

// --- reach ---

std::size_t count_one_by_one(const Reach& reach, std::size_t n) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += reach.times_of(i);
    return sum;
}

TEST(Reach, CountsTheSameElementsAsALoop) {
    constexpr std::size_t n = 1000;
    const Reach cases[] = {{.end = 300},
                           {.end = n, .period = 7, .first = 2, .run = 3},
                           {.end = n, .period = 7, .first = 2, .run = 3, .others = true},
                           {.begin = 100, .end = n, .period = 4},
                           {.end = 256, .times = 4},
                           {.end = 256 + 4 - 1, .times = 4, .rise = 1, .falls = true},
                           {.end = n, .times = 3, .rise = 256},
                           {.end = n, .period = 64, .run = 11, .times = 4, .rise = 1, .falls = true},
                           {.end = n, .period = 64, .run = 16, .slices = 64},
                           swapped_reach(n, 32)};
    for (const Reach& reach : cases) EXPECT_EQ(reach.handled(n), count_one_by_one(reach, n)) << &reach - cases;
}

TEST(Reach, CountsThreadsThatShareAnElement) {
    for (std::size_t blocks : {2, 5, 40})
        for (std::size_t block : {4, 8, 32}) {
            std::vector<std::size_t> times(100);
            for (std::size_t k = 0; k < blocks; ++k)
                for (std::size_t t = 0; t < block; ++t) ++times[k + t];  // blockIdx.x + threadIdx.x
            const Reach reach{.end = blocks + block - 1, .times = std::min(blocks, block), .rise = 1, .falls = true};
            for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(reach.times_of(i), times[i]) << i;
        }
}

TEST(Reach, CountsThreadsWhoseIndexExchangesBlockAndThread) {
    constexpr std::size_t n = 1000;
    for (const std::size_t block : {32, 16, 256}) {
        std::vector<std::size_t> times(n);
        for (std::size_t t = 0; t < block; ++t)
            for (std::size_t b = 0; b < (n + block - 1) / block; ++b)
                if (t * block + b < n) ++times[t * block + b];
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(swapped_reach(n, block).times_of(i), times[i]) << i;
    }
}

// --- names ---

TEST(NamePrefix, DistinguishesTailsFromGridsThatAreTooSmall) {
    const auto cause = [](std::size_t n, std::size_t correct) { return name_prefix(n, correct, nouns).cause; };
    EXPECT_EQ(cause(100000, 99840), "tail_lost");
    EXPECT_EQ(cause(257, 256), "tail_lost");
    EXPECT_EQ(cause(1003, 1000), "vector_tail_lost");
    EXPECT_EQ(cause(100000, 256), "one_block_only");
    EXPECT_EQ(cause(1022, 1021), "last_element_lost");
    EXPECT_EQ(cause(100000, 391 + 256 - 1), "block_size_forgotten");
    EXPECT_EQ(cause(100000, 255 * 256 + 391), "block_thread_swapped");
    EXPECT_EQ(cause(100000, 25000), "bytes_not_elements");
    EXPECT_EQ(cause(100000, 16384), "grid_too_small");
    EXPECT_EQ(cause(100000, 25256), "rest_lost");
    EXPECT_EQ(cause(std::size_t{1} << 32, std::size_t{1} << 31), "int_overflow");
}

TEST(NamePrefix, WritesCodeWithoutSeparators) {
    const Mistake mistake = name_prefix(1000003, 976 * 1024, nouns);
    EXPECT_EQ(
        mistake.message,
        "Only the first 999,424 of 1,000,003 elements are counted (999,424 = 976 x 1024): 1,000,003 / 1024 rounds "
        "down, and the last 579 have no thread.");
    EXPECT_EQ(mistake.hint,
              "Round the number of blocks up, (n + 1024 - 1) / 1024, and let threads past the end do nothing.");
}

TEST(DescribePart, NamesTheElementsOfEachPeriod) {
    const auto describe = [](std::size_t period, std::size_t first, std::size_t run, bool others) {
        return describe_part({.period = period, .first = first, .run = run, .others = others}, nouns);
    };
    EXPECT_EQ(describe(2048, 0, 1024, false), "Of every 2,048 elements only the first 1,024 are counted.");
    EXPECT_EQ(describe(4, 3, 1, true), "Of every 4 elements the fourth is not counted.");
    EXPECT_EQ(describe(16, 4, 4, false), "Of every 16 elements only numbers 4 to 7 (from 0) are counted.");
}

// --- guesses: each mistake is found among all others, because no two mistakes give the same sum ---

std::uint64_t weight(std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15ull; }

std::uint64_t sum(const Reach& reach, std::size_t n) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += reach.times_of(i) * weight(i);
    return total;
}

std::string cause_of(const Reach& mistake, std::size_t n) {
    const Fits fits = [&, actual = sum(mistake, n)](const Reach& reach) { return sum(reach, n) == actual; };
    for (const auto& guess : {guess_tail(n, nouns, fits), guess_share(n, nouns, fits, false),
                              guess_repeated(n, nouns, fits), guess_long_stride(n, nouns, fits)})
        if (guess) return guess->cause;
    return "";
}

TEST(Guess, FindsEachKindOfMistake) {
    constexpr std::size_t n = 2003;
    EXPECT_EQ(cause_of(prefix(1792), n), "tail_lost");
    EXPECT_EQ(cause_of(prefix(2000), n), "vector_tail_lost");
    EXPECT_EQ(cause_of(prefix(8 + 256 - 1), n), "block_size_forgotten");
    EXPECT_EQ(cause_of({.end = n, .period = n, .first = 512, .run = 256}, n), "one_block_only");
    EXPECT_EQ(cause_of({.end = 256, .times = 8}, n), "block_index_forgotten");
    EXPECT_EQ(cause_of({.end = 8 + 256 - 1, .times = 8, .rise = 1, .falls = true}, n), "block_size_forgotten");
    EXPECT_EQ(cause_of({.end = n, .times = 5, .rise = 256}, n), "counted_too_often");
    EXPECT_EQ(cause_of({.end = n, .period = 1024, .run = 512}, n), "stride_too_long");
    EXPECT_EQ(cause_of(swapped_reach(n, 128), n), "block_thread_swapped");
    EXPECT_EQ(cause_of({.end = n, .times = 512, .rise = 1}, n), "counted_too_often");
    EXPECT_EQ(cause_of({.end = n, .period = 1024, .run = 256, .times = 4}, n), "block_index_forgotten");
    EXPECT_EQ(cause_of({.begin = 17, .end = 1234}, n), "");
}

// --- outputs ---

/// Accepts the numbers 1 to 1003, with a relative tolerance of 0.001.
class Numbers : public Oracle {
  public:
    Problem generate(const Dataset&, std::uint64_t, std::size_t) const override {
        Problem problem{{1003}, {}, {Array(ElementType::float32, 1003)}};
        std::iota(problem.arrays[0].as<float>().begin(), problem.arrays[0].as<float>().end(), 1.0f);
        return problem;
    }
    void reference(Problem&, Execution) const override {}
    Cost cost(const Problem&) const override { return {}; }
    Tolerance tolerance(const Problem&, std::size_t) const override { return {0, 1e-3}; }
};

class OutputTest : public testing::Test {
  protected:
    Guess guess_if_written_where(std::function<bool(std::size_t)> written, float error = 1) {
        for (std::size_t i = 0; i < 1003; ++i)
            actual_[0].as<float>()[i] = written(i) ? error * problem_.arrays[0].as<float>()[i] : old_;
        return Output<float>(oracle_, situation_, 0).guess_unwritten({});
    }

    const float old_ = std::bit_cast<float>(0x7ff80a0bu);
    Numbers oracle_;
    Problem problem_ = oracle_.generate({}, 0, 0);
    std::vector<Array> before_{problem_.arrays[0].clone()}, actual_{problem_.arrays[0].clone()};
    Situation situation_{problem_, before_, actual_};

    void SetUp() override { std::fill_n(before_[0].as<float>().begin(), 1003, old_); }
};

TEST_F(OutputTest, FindsUnwrittenElements) {
    EXPECT_EQ(guess_if_written_where([](std::size_t) { return false; })->cause, "never_written");
    EXPECT_EQ(guess_if_written_where([](std::size_t i) { return i < 768; })->cause, "tail_lost");
    EXPECT_EQ(guess_if_written_where([](std::size_t i) { return i % 4 != 2; })->cause, "component_lost");
    EXPECT_EQ(guess_if_written_where([](std::size_t i) { return i % 512 < 256; })->cause, "steps_too_far");
    EXPECT_EQ(guess_if_written_where([](std::size_t i) { return i > 0; })->message,
              "Of 1,003 elements the first is not written; all others are.");
    const Guess gap = guess_if_written_where([](std::size_t i) { return i < 768 || i >= 1000; });
    EXPECT_EQ(
        gap->message,
        "Of the elements, numbers 768 to 999 are not written; those before them are, and so are the 3 after the last "
        "whole vector.");
    EXPECT_FALSE(guess_if_written_where([](std::size_t i) { return i < 768 || i >= 998; }));
    EXPECT_FALSE(guess_if_written_where([](std::size_t i) { return i % 97 < i % 5; }));
}

TEST_F(OutputTest, AcceptsTheSameValuesAsTheOracle) {
    EXPECT_EQ(guess_if_written_where([](std::size_t i) { return i < 768; }, 1.0005f)->cause, "tail_lost");
    EXPECT_FALSE(guess_if_written_where([](std::size_t i) { return i < 768; }, 1.002f));
}

TEST_F(OutputTest, NamesTheFirstFormulaThatGivesEveryElement) {
    for (std::size_t i = 0; i < 1003; ++i) actual_[0].as<float>()[i] = static_cast<float>(i);
    const Output<float> output(oracle_, situation_, 0);
    const auto guess = output.match({{{"off_at_the_end", "", ""}, [](std::size_t i) { return i < 900 ? i : 0.0f; }},
                                     {{"one_less", "", ""}, [](std::size_t i) { return static_cast<float>(i); }}});
    ASSERT_TRUE(guess);
    EXPECT_EQ(guess->cause, "one_less");
    EXPECT_TRUE(output.is_wrong(0));
}

TEST(FirstFit, PredictsTheActualOutput) {
    Problem problem{{}, {}, {Array(ElementType::uint32, 2)}};
    const std::vector<Array> actual{Array(ElementType::uint32, 2)};
    const auto mistakes = first_fit({problem, problem.arrays, actual}, {[] { return Guess(); },
                                                                        [] {
                                                                            return Guess(Mistake{"second", "m", "h"});
                                                                        },
                                                                        [] {
                                                                            return Guess(Mistake{"third", "", ""});
                                                                        }});
    ASSERT_EQ(mistakes.size(), 1u);
    EXPECT_EQ(mistakes[0].cause, "second");
    std::vector<Array> outputs(1);
    EXPECT_TRUE(mistakes[0].predict(outputs));
    EXPECT_EQ(outputs[0].data(), actual[0].data());
}

}  // namespace
}  // namespace warplab
