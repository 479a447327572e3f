#include "grader/judge/check/diagnose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "grader/model/cause.h"

namespace warplab {
namespace {

class FakeOracle : public Oracle {
  public:
    Problem generate(const Dataset&, std::uint64_t, std::size_t) const override { return {}; }
    void reference(Problem&, Execution) const override {}
    Cost cost(const Problem&) const override { return {}; }
    std::vector<Hypothesis> hypotheses(const Situation&) const override { return known; }
    std::vector<Hypothesis> known;
};

constexpr std::uint32_t poison = 0x7ff81235;

struct WrongOutput : testing::Test {
    WrongOutput() {
        lab.buffers = {{"out", ElementType::float32, Role::output, ""}};
        expected = Array(ElementType::float32, 1000);
        std::iota(expected.as<float>().begin(), expected.as<float>().end(), 1.0f);
        problem.arrays = {expected};
        actual = expected.clone();
    }
    Failure explain() {
        const auto difference = compare(oracle, problem, 0, expected, actual);
        EXPECT_TRUE(difference);
        const std::vector<Array> before = {poisoned(ElementType::float32, 1000, poison)}, after = {actual};
        return explain_difference(lab, oracle, {problem, before, after, nullptr, 0}, *difference, poison, max_s);
    }
    void leave_unwritten(std::size_t from, std::size_t to) {
        const Array unwritten = poisoned(ElementType::float32, 1000, poison);
        std::copy(unwritten.as<float>().begin() + from, unwritten.as<float>().begin() + to,
                  actual.as<float>().begin() + from);
    }
    bool contains(const Failure& failure, const std::string& words) {
        return (failure.message + " " + failure.hint).find(words) != std::string::npos;
    }
    Lab lab;
    FakeOracle oracle;
    Problem problem;
    Array expected, actual;
    double max_s = 3;  // time limit of the search for a cause
};

TEST_F(WrongOutput, NoCauseIsSoughtWhenTheTimeIsUp) {
    actual.as<float>()[3] = 0;
    oracle.known = {{"from_a_hypothesis", "It is that.", "", [this](std::vector<Array>& outputs) {
                         outputs[0] = actual;
                         return true;
                     }}};
    EXPECT_EQ(explain().cause, "from_a_hypothesis");
    max_s = 0;
    EXPECT_EQ(explain().cause, cause::wrong_value);
    EXPECT_EQ(explain().place->index, 3u);
}

TEST_F(WrongOutput, EqualOutputsHaveNoDifference) { EXPECT_FALSE(compare(oracle, problem, 0, expected, actual)); }

TEST_F(WrongOutput, DifferencesOfLargeOutputsAreCountedOnce) {
    const std::vector<std::size_t> wrong = {5, (4 << 20) - 1, 4 << 20, 9'000'002};
    const Array expected(ElementType::uint8, 9'000'003);
    Array actual = expected.clone();
    for (const std::size_t i : wrong) actual.as<std::uint8_t>()[i] = 1;
    const auto difference = compare(oracle, problem, 0, expected, actual);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->wrong, wrong.size());
    EXPECT_EQ(difference->first, wrong.front());
    EXPECT_EQ(difference->last, wrong.back());
}

TEST_F(WrongOutput, NaNNeverEqualsAnything) {
    expected.as<float>()[3] = actual.as<float>()[3] = std::nanf("1");
    actual.as<float>()[3] = std::nanf("2");
    EXPECT_TRUE(compare(oracle, problem, 0, expected, actual));
}

TEST_F(WrongOutput, UnwrittenOutputIsNamed) {
    leave_unwritten(0, 1000);
    const Failure failure = explain();
    EXPECT_EQ(failure.cause, cause::never_written);
    EXPECT_TRUE(contains(failure, "out is never written")) << failure.message;
}

TEST_F(WrongOutput, UnwrittenLastBlockIsNamed) {
    leave_unwritten(768, 1000);
    const Failure failure = explain();
    EXPECT_EQ(failure.cause, cause::never_written);
    EXPECT_TRUE(contains(failure, "all from index 768 to the end")) << failure.message;
    EXPECT_TRUE(contains(failure, "768 = 3 x 256")) << failure.hint;
}

TEST_F(WrongOutput, PeriodOfWrongElementsIsNamed) {
    for (std::size_t i = 3; i < 1000; i += 4) actual.as<float>()[i] = -7;
    const Failure failure = explain();
    EXPECT_EQ(failure.cause, cause::wrong_value);
    EXPECT_TRUE(contains(failure, "every 4th from index 3")) << failure.message;
    EXPECT_TRUE(contains(failure, "250 of 1,000")) << failure.message;
}

TEST_F(WrongOutput, ConstantFactorIsNamed) {
    for (float& value : actual.as<float>()) value *= 1000;
    EXPECT_TRUE(contains(explain(), "1000 times the right one"));
}

TEST_F(WrongOutput, NoFactorIsNamedIfItRoundsToOne) {
    for (float& value : actual.as<float>()) value *= 1.0000005f;
    EXPECT_FALSE(contains(explain(), "times the right one"));
}

TEST_F(WrongOutput, ScatteredUnwrittenElementsAreNotReportedAsReads) {
    leave_unwritten(100, 200);
    leave_unwritten(300, 400);
    EXPECT_TRUE(contains(explain(), "Does any thread write there?"));
    EXPECT_FALSE(contains(explain(), "reading past the end"));
}

TEST_F(WrongOutput, ShiftByOneIsNamed) {
    for (std::size_t i = 0; i + 1 < 1000; ++i) actual.as<float>()[i] = expected.as<float>()[i + 1];
    EXPECT_TRUE(contains(explain(), "is the index too large by one?"));
}

TEST_F(WrongOutput, NaNHasItsOwnCause) {
    actual.as<float>()[5] = std::nanf("");
    EXPECT_EQ(explain().cause, cause::nan);
}

TEST_F(WrongOutput, SumsThatBeganWithAnUnsetValueAreExplained) {
    for (float& value : actual.as<float>()) value += -1.6947395e38f;
    EXPECT_TRUE(contains(explain(), "Wrong by 0xFEFEFEFE"));
    EXPECT_EQ(explain().cause, cause::uninitialised);
    EXPECT_NE(explain().message.find("Each of them contains 0xFEFEFEFE"), std::string::npos);
    actual.as<float>()[7] = 3;
    EXPECT_FALSE(contains(explain(), "0xFEFEFEFE"));
}

TEST(UnsetTerms, AreFoundOnlyInSumsThatWrap) {
    Lab lab;
    lab.buffers = {{"bins", ElementType::uint32, Role::output, ""}};
    Array expected(ElementType::uint32, 3);
    const auto hint = [&](std::uint32_t first, std::uint32_t last) {
        Array actual = expected.clone();
        actual.as<std::uint32_t>()[0] = first;
        actual.as<std::uint32_t>()[2] = last;
        Problem problem;
        problem.arrays = {expected};
        const std::vector<Array> before = {poisoned(ElementType::uint32, 3, poison)}, after = {actual};
        const auto difference = compare(FakeOracle(), problem, 0, expected, actual);
        return explain_difference(lab, FakeOracle(), {problem, before, after, nullptr, 0}, *difference, poison, 3).hint;
    };
    EXPECT_NE(hint(391 * 0xFEFEFEFEu, 2 * 0xFEFEFEFEu).find("391 times 0xFEFEFEFE"), std::string::npos);
    for (const std::uint32_t other : {1u, 2u, 0x80000000u, 0xFFFFFFFFu, 0xFEFEFEFDu, 1000u, 0x7F7F7F7Fu})
        EXPECT_EQ(hint(0xFEFEFEFEu, other).find("0xFEFEFEFE"), std::string::npos) << other;
}

/// Return the hint for an output whose i-th element is `change(right, i)` instead of `right`, which is 1 + i / 7.
std::string hint_for_doubles(std::size_t count, const std::function<double(double, std::size_t)>& change) {
    Lab lab;
    lab.buffers = {{"out", ElementType::float64, Role::output, ""}};
    Array expected(ElementType::float64, count), actual(ElementType::float64, count);
    for (std::size_t i = 0; i < count; ++i) {
        expected.as<double>()[i] = 1 + static_cast<double>(i) / 7;
        actual.as<double>()[i] = change(expected.as<double>()[i], i);
    }
    Problem problem;
    problem.arrays = {expected};
    const std::vector<Array> before = {poisoned(ElementType::float64, count, poison)}, after = {actual};
    const auto difference = compare(FakeOracle(), problem, 0, expected, actual);
    return explain_difference(lab, FakeOracle(), {problem, before, after, nullptr, 0}, *difference, poison, 3).hint;
}

TEST(FloatPrecision, IsSuspectedIfAllDoublesAreNearlyRight) {
    const auto to_float = [](double value, std::size_t) { return static_cast<double>(static_cast<float>(value)); };
    EXPECT_NE(hint_for_doubles(1000, to_float).find("value were a float, which holds 7"), std::string::npos);
    EXPECT_NE(hint_for_doubles(1000, [](double value, auto) { return value * (1 + 3e-10); }).find("right, to 9 digits"),
              std::string::npos);
    const auto one_is_off = [&](double value, std::size_t i) { return i == 500 ? value + 1 : to_float(value, i); };
    EXPECT_EQ(hint_for_doubles(1000, one_is_off).find("float"), std::string::npos);
    const auto few = [&](double value, std::size_t i) { return i < 100 ? to_float(value, i) : value; };
    EXPECT_EQ(hint_for_doubles(1000, few).find("float"), std::string::npos);
}

TEST(TooSmallGrid, IsNotSuggestedForAFewElements) {
    const auto unwritten_end = [](std::size_t count) {
        const Array unwritten = poisoned(ElementType::float64, count, poison);
        return hint_for_doubles(count, [&, count](double value, std::size_t i) {
            return i + 1 == count ? unwritten.as<double>()[i] : value;
        });
    };
    EXPECT_EQ(unwritten_end(2).find("grid"), std::string::npos);
    EXPECT_NE(unwritten_end(1000 * 7).find("grid seems too small"), std::string::npos);
}

TEST_F(WrongOutput, PlaceContainsExpectedAndActual) {
    actual.as<float>()[41] = 0.5f;
    const Failure failure = explain();
    ASSERT_TRUE(failure.place);
    EXPECT_EQ(failure.place->buffer, "out");
    EXPECT_EQ(failure.place->index, 41u);
    EXPECT_EQ(failure.place->expected, "42");
    EXPECT_EQ(failure.place->actual, "0.5");
}

TEST_F(WrongOutput, TheFirstHypothesisThatReproducesTheOutputIsNamed) {
    const auto filled_with = [](float value) {
        return [value](std::vector<Array>& outputs) {
            for (float& element : outputs[0].as<float>()) element = value;
            return true;
        };
    };
    oracle.known = {{"zeros", "All zeros.", "", filled_with(0)},
                    {"ones", "All ones.", "", filled_with(1)},
                    {"ones_again", "", "", filled_with(1)}};
    for (float& value : actual.as<float>()) value = 1;
    EXPECT_EQ(explain().cause, "ones");
    actual.as<float>()[0] = 2;
    EXPECT_EQ(explain().cause, cause::wrong_value);
}

TEST_F(WrongOutput, HypothesesDoNotChangeTheRightAnswer) {
    oracle.known = {{"mutates", "", "", [](std::vector<Array>& outputs) {
                         outputs[0].as<float>()[0] = -1;
                         return true;
                     }}};
    actual.as<float>()[0] = 99;
    EXPECT_EQ(explain().place->expected, "1");
    EXPECT_EQ(problem.arrays[0].as<float>()[0], 1);
}

TEST(GuardViolation, MessageStatesTheDistanceFromTheBuffer) {
    Lab lab;
    lab.buffers = {{"a", ElementType::float32, Role::input, ""}, {"out", ElementType::float32, Role::output, ""}};
    EXPECT_NE(explain_guard_violation(lab, {"out", 1000, 1000}).message.find("one past its last element"),
              std::string::npos);
    EXPECT_NE(explain_guard_violation(lab, {"out", -2, 1000}).message.find("2 elements before its first"),
              std::string::npos);
    EXPECT_NE(explain_guard_violation(lab, {"scratch", 8, 8}).hint.find("_scratch_bytes()"), std::string::npos);
    lab.name = "sums";
    EXPECT_EQ(explain_guard_violation(lab, {"scratch", 1025, 1024}).message,
              "The code writes outside scratch, 2 past its last byte (sums_scratch_bytes asks for 1,024 bytes).");
    lab.divides_scratch = true;
    // The message omits the 8 bytes, because they can include the lab's own arrays.
    const std::string message = explain_guard_violation(lab, {"scratch", 9, 8}).message;
    EXPECT_NE(message.find("an array that the lab stores next to it: 2 past its last byte."), std::string::npos)
        << message;
    EXPECT_EQ(message.find("8"), std::string::npos);
    EXPECT_NE(explain_guard_violation(lab, {"a", 1000, 1000}).message.find("It is an input"), std::string::npos);
}

}  // namespace
}  // namespace warplab
