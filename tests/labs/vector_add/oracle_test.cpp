#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t poison = 0x7ff80a0bu;
enum Buffer { a, b, out };

const Oracle& oracle() { return load_oracle("vector_add"); }

Problem make_problem(const std::string& generator, std::size_t n, std::uint64_t seed = 7) {
    return solve(oracle(), make_dataset(generator, {{"n", whole(n)}}), seed);
}

TEST(VectorAddOracle, ReferencesAgreeAndEqualPlainSums) {
    for (const char* generator : {"random", "counting", "alternating", "extremes"}) {
        Problem problem = make_problem(generator, 10007);
        const Array sequential = problem.arrays[out].clone();
        oracle().reference(problem, Execution::openmp);
        EXPECT_EQ(std::memcmp(sequential.data(), problem.arrays[out].data(), sequential.bytes()), 0) << generator;
        const auto x = problem.arrays[a].as<float>(), y = problem.arrays[b].as<float>();
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_FALSE(std::isnan(x[i] + y[i])) << generator;
            ASSERT_EQ(sequential.as<float>()[i], x[i] + y[i]) << generator;
        }
    }
}

TEST(VectorAddOracle, RandomValuesCoverSignsAndMagnitudes) {
    const Problem problem = make_problem("random", 10000);
    std::size_t negative = 0, small = 0, large = 0;
    for (const float x : problem.arrays[a].as<float>()) {
        negative += x < 0;
        small += std::abs(x) < 0x1p-7f;
        large += std::abs(x) >= 0x1p7f;
        ASSERT_GE(std::abs(x), 0x1p-8f);
        ASSERT_LT(std::abs(x), 0x1p8f);
    }
    EXPECT_NEAR(static_cast<double>(negative), 5000, 300);
    EXPECT_GT(small, 400u);
    EXPECT_GT(large, 400u);
}

TEST(VectorAddOracle, PoolsAreLongerAndPartsCanBeComputed) {
    Problem pool = oracle().generate(make_dataset("random", {{"n", 1000}}), 3, 64);
    EXPECT_EQ(pool.arrays[a].count(), 1064u);
    EXPECT_EQ(pool.arrays[out].count(), 1000u);
    Problem window = pool;
    window.arrays[a] = pool.arrays[a].part(64, 1000);
    window.arrays[b] = pool.arrays[b].part(4, 1000);
    oracle().reference(window, Execution::sequential);
    Array part(ElementType::float32, 10);
    ASSERT_TRUE(oracle().reference_part(window, out, 500, 10, part));
    EXPECT_EQ(std::memcmp(part.data(), window.arrays[out].part(500, 10).data(), part.bytes()), 0);
}

TEST(VectorAddOracle, RefusesInvalidRecipes) {
    const auto generate = [](const std::string& generator, Parameters parameters) {
        return oracle().generate(make_dataset(generator, std::move(parameters)), 1, 0);
    };
    EXPECT_THROW(generate("rnadom", {{"n", 1}}), ManifestError);
    EXPECT_THROW(generate("random", {{"n", -1}}), ManifestError);
    EXPECT_THROW(generate("random", {{"n", 1.5}}), ManifestError);
    EXPECT_THROW(generate("random", {}), ManifestError);
    EXPECT_THROW(generate("random", {{"n", 1}, {"m", 1}}), ManifestError);
    EXPECT_EQ(generate("random", {{"n", 0}}).arrays[a].count(), 0u);
}

/// A mistake, and the contents of `out` after a kernel with this mistake. Before the call, `out` contains poison.
struct Mistake {
    std::string name;
    std::size_t n;
    std::function<void(std::span<const float> x, std::span<const float> y, std::span<float> sums)> run;
    std::string cause, message;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class VectorAddMistake : public testing::TestWithParam<Mistake> {};

TEST_P(VectorAddMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem("random", mistake.n);
    const Array before = filled(ElementType::float32, mistake.n, poison);
    Array actual = before.clone();
    mistake.run(std::as_const(problem.arrays[a]).as<float>(), std::as_const(problem.arrays[b]).as<float>(),
                actual.as<float>());
    const auto hypothesis = explain(oracle(), problem, out, before, actual);
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, mistake.cause);
    EXPECT_THAT(hypothesis->message, HasSubstr(mistake.message));
}

/// Return a kernel that adds element i if `is_added(i)` is true.
auto add_if(std::function<bool(std::size_t)> is_added) {
    return [is_added](auto x, auto y, auto sums) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (is_added(i)) sums[i] = x[i] + y[i];
    };
}

INSTANTIATE_TEST_SUITE_P(
    All, VectorAddMistake,
    testing::Values(Mistake{"BlocksRoundedDown", 100000, add_if([](std::size_t i) { return i < 100000 / 256 * 256; }),
                            "tail_lost", "Only the first 99,840 of 100,000 elements are written (99,840 = 390 x 256)"},
                    Mistake{"OneElementAfterTheBlock", 257, add_if([](std::size_t i) { return i < 256; }), "tail_lost",
                            "1 x"},
                    Mistake{"VectorsOnly", 255, add_if([](std::size_t i) { return i < 252; }), "vector_tail_lost",
                            "63 whole vectors of four. The 3 after them"},
                    Mistake{"FixedGrid", 1000003, add_if([](std::size_t i) { return i < 64 * 256; }), "grid_too_small",
                            "Only the first 16,384 of 1,000,003"},
                    Mistake{"NoBlockIndex", 100000, add_if([](std::size_t i) { return i < 256; }), "one_block_only",
                            "one block's worth"},
                    Mistake{"NoBlockSize", 100000, add_if([](std::size_t i) { return i < 391 + 256 - 1; }),
                            "block_size_forgotten", "Only the first 646 of 100,000"},
                    Mistake{"QuarterOfTheBytes", 100003, add_if([](std::size_t i) { return i < 25000; }),
                            "bytes_not_elements", "exactly a quarter"},
                    Mistake{"LastElementLeftOut", 1022, add_if([](std::size_t i) { return i + 1 < 1022; }),
                            "last_element_lost", "1,021 of 1,022"},
                    Mistake{"StepTwiceTheThreads", 100000, add_if([](std::size_t i) { return i % 8192 < 4096; }),
                            "steps_too_far", "Of every 8,192 elements only the first 4,096 are written"},
                    Mistake{"ForgottenComponent", 4096, add_if([](std::size_t i) { return i % 4 != 3; }),
                            "component_lost", "Of every 4 elements only the first 3 are written"},
                    Mistake{"TailFromTheStart", 1003,
                            [](auto x, auto y, auto sums) {
                                for (std::size_t i = 0; i < 1000; ++i) sums[i] = x[i] + y[i];
                                for (std::size_t i = 0; i < 3; ++i) sums[1000 + i] = x[i] + y[i];
                            },
                            "tail_index", "The last 3 elements, from 1,000 on"},
                    Mistake{"Product", 500,
                            [](auto x, auto y, auto sums) {
                                for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = x[i] * y[i];
                            },
                            "wrong_operation", "a[i] * b[i]"},
                    Mistake{"OnlyA", 500,
                            [](auto x, auto, auto sums) {
                                for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = x[i];
                            },
                            "wrong_operation", "out[i] is a[i];"},
                    Mistake{"CountedFromOne", 500,
                            [](auto x, auto y, auto sums) {
                                for (std::size_t i = 0; i + 1 < sums.size(); ++i) sums[i + 1] = x[i] + y[i];
                            },
                            "shifted", "elements i - 1"},
                    Mistake{"ReadsTheNext", 500,
                            [](auto x, auto y, auto sums) {
                                for (std::size_t i = 0; i + 1 < sums.size(); ++i) sums[i] = x[i + 1] + y[i + 1];
                                sums[499] = std::nanf("");
                            },
                            "shifted", "elements i + 1"},
                    Mistake{"NothingWritten", 500, [](auto, auto, auto) {}, "never_written", "No element"}),
    [](const auto& info) { return info.param.name; });

TEST(VectorAddOracle, ExplainsResultsOfThePreviousCall) {
    const Problem previous = make_problem("random", 1000, 1), problem = make_problem("random", 1000, 2);
    const auto stale = explain(oracle(), problem, out, previous.arrays[out], previous.arrays[out], &previous);
    ASSERT_TRUE(stale);
    EXPECT_THAT(stale->cause, testing::AnyOf("stale_result", "never_written"));

    Array added = problem.arrays[out].clone();
    for (std::size_t i = 0; i < 1000; ++i) added.as<float>()[i] += previous.arrays[out].as<float>()[i];
    const auto garbage = explain(oracle(), problem, out, previous.arrays[out], added, &previous);
    ASSERT_TRUE(garbage);
    EXPECT_EQ(garbage->cause, "added_to_garbage");
}

TEST(VectorAddOracle, DoesNotExplainNaN) {
    const Problem problem = make_problem("random", 1000);
    const Array before = filled(ElementType::float32, 1000, poison);
    Array actual = problem.arrays[out].clone();
    for (float& sum : actual.as<float>()) sum = std::nanf("");
    EXPECT_FALSE(explain(oracle(), problem, out, before, actual));
}

TEST(VectorAddOracle, DoesNotExplainScatteredErrors) {
    const Problem problem = make_problem("random", 1000);
    Array actual = problem.arrays[out].clone();
    for (const std::size_t i : {17, 100, 333, 712}) actual.as<float>()[i] += 1;
    EXPECT_FALSE(explain(oracle(), problem, out, filled(ElementType::float32, 1000, poison), actual));
}

}  // namespace
}  // namespace warplab::test
