#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t poison = 0x7ff80a0bu, beyond = 0x7ff81235u;
enum Buffer { a, b, out };

const Oracle& oracle() { return load_oracle("dot_product"); }

Problem make_problem(const std::string& generator, std::size_t n, std::uint64_t seed = 7) {
    return solve(oracle(), make_dataset(generator, {{"n", whole(n)}}), seed);
}

std::uint32_t answer(const Problem& problem) { return problem.arrays[out].as<std::uint32_t>()[0]; }

std::optional<Hypothesis> explain_answer(const Problem& problem, std::uint32_t actual, std::uint32_t before = poison,
                                         const Problem* previous = nullptr) {
    return explain(oracle(), problem, out, filled(ElementType::int32, 1, before), filled(ElementType::int32, 1, actual),
                   previous, beyond);
}

std::vector<std::uint32_t> products(const Problem& problem) {
    std::vector<std::uint32_t> result;
    const auto x = problem.arrays[a].as<std::uint32_t>(), y = problem.arrays[b].as<std::uint32_t>();
    for (std::size_t i = 0; i < x.size(); ++i) result.push_back(x[i] * y[i]);
    return result;
}

TEST(DotProductOracle, ReferencesAgree) {
    for (const char* generator : {"random", "ones", "alternating", "extremes", "powers_of_two"}) {
        Problem problem = make_problem(generator, 10007);
        const std::uint32_t sequential = answer(problem);
        oracle().reference(problem, Execution::openmp);
        EXPECT_EQ(answer(problem), sequential) << generator;
        std::uint32_t sum = 0;
        for (const std::uint32_t product : products(problem)) sum += product;
        EXPECT_EQ(sequential, sum) << generator;
    }
}

TEST(DotProductOracle, GivesKnownAnswers) {
    EXPECT_EQ(answer(make_problem("ones", 100000)), 100000u);
    EXPECT_EQ(answer(make_problem("random", 0)), 0u);
}

TEST(DotProductOracle, LosingAnyProductChangesTheAnswer) {
    for (const char* generator : {"random", "ones", "alternating", "powers_of_two"})
        for (const std::uint32_t product : products(make_problem(generator, 5000))) ASSERT_NE(product, 0u) << generator;
}

TEST(DotProductOracle, RefusesInvalidRecipes) {
    EXPECT_THROW(make_problem("random", -1), ManifestError);
    EXPECT_THROW(make_problem("oens", 10), ManifestError);
}

/// A mistake, and the sum that a kernel with this mistake computes from `n` products and the values beyond them.
struct Mistake {
    std::string name;
    std::size_t n;
    std::function<std::uint32_t(const std::vector<std::uint32_t>&)> run;
    std::string cause, message;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class DotProductMistake : public testing::TestWithParam<Mistake> {};

TEST_P(DotProductMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem("random", mistake.n);
    const auto hypothesis = explain_answer(problem, mistake.run(products(problem)));
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, mistake.cause) << hypothesis->message;
    EXPECT_THAT(hypothesis->message, HasSubstr(mistake.message));
}

using Products = std::vector<std::uint32_t>;

/// Return a function that adds up the products i for which `is_counted(i)` is true.
auto sum_where(std::function<bool(std::size_t)> is_counted) {
    return [is_counted](const Products& products) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < products.size(); ++i) sum += is_counted(i) ? products[i] : 0;
        return sum;
    };
}

std::uint32_t sum_of(const Products& products) {
    return sum_where([](std::size_t) { return true; })(products);
}

/// Return a function that sums over blocks of `block` threads, where `tree` reduces a block's products to slot 0.
auto sum_by_blocks(std::size_t block, std::function<void(Products& shared)> tree) {
    return [block, tree](const Products& products) {
        std::uint32_t sum = 0;
        for (std::size_t begin = 0; begin < products.size(); begin += block) {
            Products shared(block);
            for (std::size_t t = 0; t < block && begin + t < products.size(); ++t) shared[t] = products[begin + t];
            tree(shared);
            sum += shared[0];
        }
        return sum;
    };
}

/// Return a function that sums over the threads of a grid: thread t of block k adds the product at `place(k, t)`.
auto sum_by_grid(std::size_t blocks, std::size_t block, std::size_t (*place)(std::size_t k, std::size_t t)) {
    return [=](const Products& products) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < blocks; ++k)
            for (std::size_t t = 0; t < block; ++t) sum += products[place(k, t)];
        return sum;
    };
}

/// Add the upper half of the sums to the lower half, again and again, as long as a half has more than `end` sums.
void halve(Products& shared, std::size_t end = 0) {
    for (std::size_t half = shared.size() / 2; half > end; half /= 2)
        for (std::size_t t = 0; t < half; ++t) shared[t] += shared[t + half];
}

INSTANTIATE_TEST_SUITE_P(
    All, DotProductMistake,
    testing::Values(
        Mistake{"NotCleared", 1000, [](const Products& p) { return sum_of(p) + poison; }, "not_cleared",
                "what out held before the call"},
        Mistake{"NoGuard", 100000, [](const Products& p) { return sum_of(p) + 96 * beyond * beyond; }, "read_past_end",
                "96 products from beyond the end are in the sum: 100,096 elements were read (100,096 = 391 x 256)"},
        Mistake{"GuardLetsOneMore", 100000, [](const Products& p) { return sum_of(p) + beyond * beyond; },
                "read_past_end", "Element 100,000 is in the sum; the last one is 99,999"},
        Mistake{"BlocksRoundedDown", 100000, sum_where([](std::size_t i) { return i < 99840; }), "tail_lost",
                "Only the first 99,840 of 100,000 products are in the sum (99,840 = 390 x 256)"},
        Mistake{"BlocksOf1024RoundedDown", 1000003, sum_where([](std::size_t i) { return i < 976 * 1024; }),
                "tail_lost", "976 x 1024"},
        Mistake{"VectorsOnly", 100003, sum_where([](std::size_t i) { return i < 100000; }), "vector_tail_lost",
                "The 3 after them"},
        Mistake{"LastLeftOut", 1001, sum_where([](std::size_t i) { return i != 1000; }), "vector_tail_lost", ""},
        Mistake{"LastOfFourLeftOut", 1000, sum_where([](std::size_t i) { return i != 999; }), "last_element_lost", ""},
        Mistake{"NothingAdded", 1000, [](const Products&) { return 0u; }, "nothing_added", "The answer is 0"},
        Mistake{"LastBlockWins", 100000, sum_where([](std::size_t i) { return i >= 99840; }), "one_block_only",
                "block 390 of 391, 160 products, 99,840 to 99,999"},
        Mistake{"FirstBlockWins", 1000003, sum_where([](std::size_t i) { return i < 128; }), "one_block_only",
                "block 0 of 7,813, 128 products, 0 to 127"},
        Mistake{"FixedGrid", 1000003, sum_where([](std::size_t i) { return i < 66048; }), "grid_too_small",
                "first 66,048 of 1,000,003"},
        Mistake{"FirstLost", 10000, sum_where([](std::size_t i) { return i >= 5120; }), "first_lost", "first 5,120"},
        Mistake{"WholeStepsLost", 100000, sum_where([](std::size_t i) { return i >= 98304; }), "first_lost",
                "Only the last 1,696 products are in the sum; the first 98,304, which whole steps add, are not."},
        Mistake{"ThreadNumberInTheTree", 1000003,
                sum_where([](std::size_t i) { return i < 256 || i % 256 == 0; }), "block_incomplete",
                "The sum of block 0 is right; of every other block of 256 only the first product is in the sum."},
        Mistake{"NoShuffleByOneLane", 100000,
                sum_where([](std::size_t i) { return i / 4 % 2 == 0 && i / 128 % 2 == 0; }), "tree_step",
                "The answer is that of shuffles without the shuffle by 1 lane."},
        Mistake{"OnlyThreadZero", 100000, sum_where([](std::size_t i) { return i % 256 == 0; }), "block_incomplete",
                "Of every 256 products only the first is in the sum"},
        Mistake{"OnlyWarpZero", 100000, sum_where([](std::size_t i) { return i % 512 < 32; }), "block_incomplete",
                "Of every 512 products only the first 32 are in the sum"},
        Mistake{"OnlyWarpZeroOfVectors", 100000, sum_where([](std::size_t i) { return i / 4 % 256 < 32; }),
                "block_incomplete", "Of every 1,024 products only the first 128 are in the sum"},
        Mistake{"LoopEndsOneEarly", 100000, sum_where([](std::size_t i) { return i % 256 != 255; }),
                "block_incomplete", "Of every 256 products only the first 255 are in the sum"},
        Mistake{"LoopBeginsAtOne", 100000, sum_where([](std::size_t i) { return i % 256 != 0; }), "block_incomplete",
                "Of every 256 products the first is not in the sum"},
        Mistake{"OneSharedVariable", 100096, sum_where([](std::size_t i) { return i % 256 == 255; }),
                "block_incomplete", "Of every 256 products only number 255"},
        Mistake{"TreeStopsEarly", 10000, sum_by_blocks(256, [](Products& shared) { halve(shared, 1); }),
                "block_incomplete", "Of every 2 products only the first is"},
        Mistake{"NoBarrierInTree", 100000, sum_by_blocks(256,
                                                         [](Products& shared) {  // only thread 0 continues
                                                             for (std::size_t half = 128; half > 0; half /= 2)
                                                                 shared[0] += shared[half];
                                                         }),
                "missing_barrier", "Of every block of 256 only the products 0, 1, 2, 4, 8 … 128"},
        Mistake{"OddTree", 100000, sum_by_blocks(192, [](Products& shared) { halve(shared); }),
                "tree_not_power_of_two", "blocks of 192"},
        Mistake{"EveryThreadAdds", 1001, [](const Products& p) { return sum_of(p) * 256; }, "added_repeatedly",
                "256 times"},
        Mistake{"TailTwice", 1003, [](const Products& p) { return sum_of(p) + p[1000] + p[1001] + p[1002]; },
                "tail_twice", "The last 3 products, from 1,000 on"},
        Mistake{"NoBlockSize", 100000, sum_by_grid(391, 256, [](std::size_t k, std::size_t t) { return k + t; }),
                "block_size_forgotten", "Only the first 646 products"},
        Mistake{"NoBlockIndex", 100000, sum_by_grid(391, 256, [](std::size_t, std::size_t t) { return t; }),
                "block_index_forgotten", "The first 256 products are in the sum 391 times"},
        Mistake{"StepOfOneBlock", 100000,
                [](const Products& p) {
                    std::uint32_t sum = 0;
                    for (std::size_t k = 0; k < 32; ++k)
                        for (std::size_t i = 256 * k; i < p.size(); ++i) sum += p[i];
                    return sum;
                },
                "counted_too_often", "up to 32 times"},
        Mistake{"StrideTooLong", 100003, sum_where([](std::size_t i) { return i % 16384 < 8192; }), "stride_too_long",
                "Of every 16,384 products only the first 8,192"},
        Mistake{"Saturated", 1000, [](const Products&) { return 0x7fffffffu; }, "saturated", "2147483647"},
        Mistake{"SlotsNotSet", 1000,
                [](const Products& p) {
                    std::uint32_t sum = sum_of(p);
                    for (std::size_t i = 232; i < 256; ++i) sum += p[i];  // 1000 % 256 = 232
                    return sum;
                },
                "stale_shared", "adds 24 more: elements 232 to 255"},
        Mistake{"LostUpdates", 100000,
                sum_where([](std::size_t i) { return i / 256 < 17 || i / 256 > 40; }), "lost_updates",
                "blocks 17 to 40 (of 256 elements each)"}),
    [](const auto& info) { return info.param.name; });

TEST(DotProductOracle, ExplainsOtherOperations) {
    const Problem problem = make_problem("random", 1000);
    std::uint32_t sum = 0, sum_of_sums = 0;
    const auto x = problem.arrays[a].as<std::uint32_t>(), y = problem.arrays[b].as<std::uint32_t>();
    for (std::size_t i = 0; i < 1000; ++i) sum += x[i], sum_of_sums += x[i] + y[i];
    EXPECT_THAT(explain_answer(problem, sum)->message, HasSubstr("the sum of a[i];"));
    EXPECT_THAT(explain_answer(problem, sum_of_sums)->message, HasSubstr("the sum of a[i] + b[i];"));
}

TEST(DotProductOracle, ExplainsAForgottenBlockIndex) {
    const Problem problem = make_problem("random", 1000);
    std::uint32_t a_repeated = 0, b_repeated = 0;
    const auto x = problem.arrays[a].as<std::uint32_t>(), y = problem.arrays[b].as<std::uint32_t>();
    for (std::size_t i = 0; i < 1000; ++i) a_repeated += x[i % 128] * y[i], b_repeated += x[i] * y[i % 256];
    EXPECT_THAT(explain_answer(problem, a_repeated)->message, HasSubstr("a[i % 128] * b[i]: every block of 128"));
    EXPECT_THAT(explain_answer(problem, b_repeated)->message, HasSubstr("a[i] * b[i % 256]: every block of 256"));
    EXPECT_EQ(explain_answer(problem, b_repeated)->cause, "block_index_forgotten");
}

TEST(DotProductOracle, ExplainsResultsOfThePreviousCall) {
    const Problem previous = make_problem("random", 1000, 1), problem = make_problem("random", 1000, 2);
    EXPECT_EQ(explain_answer(problem, answer(previous) + answer(problem), poison, &previous)->cause, "not_cleared");
    EXPECT_EQ(explain_answer(problem, answer(previous), poison, &previous)->cause, "stale_result");
}

TEST(DotProductOracle, ExplainsAnEmptySumThatIsNotWritten) {
    EXPECT_EQ(explain_answer(make_problem("random", 0), poison)->cause, "empty_not_written");
}

TEST(DotProductOracle, DoesNotExplainArbitraryNumbers) {
    for (const std::size_t n : {1, 31, 256, 1000, 100000})
        EXPECT_FALSE(explain_answer(make_problem("random", n), 0x12345678u)) << n;
}

}  // namespace
}  // namespace warplab::test
