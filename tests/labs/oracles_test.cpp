// Tests of every lab's oracle. Labs are found by wildcard, so a new lab needs no change here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "grader/judge/bench/pool.h"
#include "grader/judge/check/diagnose.h"
#include "grader/judge/sandbox/in_child.h"
#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

/// Return the datasets that the CPU backend checks. None of them is too large for these tests.
std::vector<Dataset> checked_datasets(const Lab& lab) {
    std::vector<Dataset> datasets;
    for (const Dataset& dataset : lab.datasets)
        if ((dataset.uses.check || dataset.uses.hidden) && !dataset.uses.cuda_only) datasets.push_back(dataset);
    return datasets;
}

// --- reference_part ---

struct Cut {
    std::size_t first, count;
};

/// Return parts of an output of n elements: all of it, its ends, and parts with neighbours on both sides.
std::vector<Cut> cuts_of(std::size_t n) {
    std::vector<Cut> cuts = {{0, n}, {0, 1}, {n - 1, 1}, {1, n - 1}, {n / 2, 1}, {n / 3, n - n / 3 * 2}};
    std::erase_if(cuts, [n](const Cut& cut) { return cut.count == 0 || cut.first >= n; });
    return cuts;
}

/// Return a copy of the call with the right answer in its outputs.
Problem solve_copy(const Lab& lab, const Oracle& oracle, Problem call) {
    for (std::size_t b = 0; b < lab.buffers.size(); ++b)
        if (lab.buffers[b].role != Role::input) call.arrays[b] = call.arrays[b].clone();
    oracle.reference(call, Execution::openmp);
    return call;
}

/// Return a message with a remedy if reference_part and reference differ; otherwise an empty string.
std::string find_wrong_part(const Lab& lab, const Dataset& dataset, const Oracle& oracle) {
    const Problem call = oracle.generate(dataset, dataset.seed, 0);
    std::optional<Problem> solved;
    for (std::size_t b = 0; b < lab.buffers.size(); ++b) {
        if (lab.buffers[b].role == Role::input || call.arrays[b].count() == 0) continue;
        for (const auto& [first, count] : cuts_of(call.arrays[b].count())) {
            Array part(call.arrays[b].type(), count);
            if (!oracle.reference_part(call, b, first, count, part)) continue;
            if (!solved) solved = solve_copy(lab, oracle, call);
            const Array right = solved->arrays[b].part(first, count);
            const auto wrong = compare(oracle, call, b, right, part, first);
            if (!wrong) continue;
            return fmt::format(
                "{0}, dataset \"{1}\": {2}[{3}] is {4} when reference_part computes elements {5} to {6}, and {7} when "
                "reference computes all. On a GPU, right code would fail when it is timed. In labs/{0}/oracle.cpp, let "
                "reference_part compute exactly that slice of the whole (a stencil needs the inputs beyond both ends "
                "of the "
                "slice), or delete the function: then the judge computes the whole.",
                lab.name, dataset.name, lab.buffers[b].name, first + wrong->first, element_text(part, wrong->first),
                first, first + count - 1, element_text(right, wrong->first));
        }
    }
    return "";
}

class OraclePart : public testing::TestWithParam<std::string> {};

TEST_P(OraclePart, EqualsThatSliceOfTheWhole) {
    const Lab lab = load_lab(root_folder(), GetParam());
    for (const Dataset& dataset : checked_datasets(lab))
        ASSERT_EQ(find_wrong_part(lab, dataset, load_oracle(lab.name)), "");
}

// --- hypotheses ---

/// Return outputs that a submission can produce: all elements, or the first one, have an unusual value.
std::vector<Array> unusual_outputs(const Array& right) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    std::vector<Array> outputs;
    const auto fill = [&](auto type, const auto& values) {
        for (const auto value : values)
            for (const std::size_t count : {right.count(), std::size_t{1}}) {
                outputs.push_back(right.clone());
                const auto elements = outputs.back().as<std::remove_const_t<decltype(type)>>();
                std::fill_n(elements.begin(), count, static_cast<decltype(type)>(value));
            }
    };
    const std::vector<double> reals = {nan, inf, -inf, 0.0, -0.0, -1, 0.5, 1e-300, 4096, 1e6, 1e9, 1.8e19, 1e300};
    const std::vector<long> whole = {0, 1, -1, 255, 256, 65536, 2147483647, -2147483648, 4294967295};
    if (right.type() == ElementType::float64) fill(double{}, reals);
    if (right.type() == ElementType::float32) fill(float{}, reals);
    if (right.type() == ElementType::int32) fill(std::int32_t{}, whole);
    if (right.type() == ElementType::uint32) fill(std::uint32_t{}, whole);
    if (right.type() == ElementType::uint8) fill(std::uint8_t{}, std::vector<int>{0, 1, 255});
    return outputs;
}

class OracleHypotheses : public testing::TestWithParam<std::string> {};

TEST_P(OracleHypotheses, AcceptAnyOutput) {
    const Lab lab = load_lab(root_folder(), GetParam());
    const Oracle& oracle = load_oracle(lab.name);
    const Dataset dataset = checked_datasets(lab).front();
    const Problem solved = solve_copy(lab, oracle, oracle.generate(dataset, dataset.seed, 0));
    for (std::size_t b = 0; b < lab.buffers.size(); ++b) {
        if (lab.buffers[b].role == Role::input) continue;
        for (const Array& unusual : unusual_outputs(solved.arrays[b])) {
            std::vector<Array> actual = solved.arrays;
            actual[b] = unusual;
            const Situation situation{solved, solved.arrays, actual, nullptr, 0x7ff81235u};
            const auto explained = compute_in_child(60, [&] {
                std::vector<std::string> causes;
                for (const Hypothesis& hypothesis : oracle.hypotheses(situation)) {
                    std::vector<Array> predicted;
                    for (const Array& array : solved.arrays) predicted.push_back(array.clone());
                    hypothesis.predict(predicted);
                    causes.push_back(hypothesis.cause);
                }
                return causes;
            });
            EXPECT_TRUE(explained) << lab.buffers[b].name << " begins with " << element_text(unusual, 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Labs, OracleHypotheses, testing::ValuesIn(find_labs(root_folder())), name_of);

INSTANTIATE_TEST_SUITE_P(Labs, OraclePart, testing::ValuesIn(find_labs(root_folder())), name_of);

/// The mean of three neighbours; the ends count twice. If `widens` is true, a part reads the neighbours of its ends.
class Blur : public Oracle {
  public:
    explicit Blur(bool widens) : widens_(widens) {}
    Problem generate(const Dataset&, std::uint64_t seed, std::size_t) const override {
        Problem problem{{100}, {}, {Array(ElementType::float32, 100), Array(ElementType::float32, 100)}};
        for (std::size_t i = 0; i < 100; ++i) problem.arrays[0].as<float>()[i] = static_cast<float>((i + seed) * i);
        return problem;
    }
    void reference(Problem& problem, Execution) const override {
        blur(std::as_const(problem.arrays[0]).as<float>(), problem.arrays[1].as<float>(), 0);
    }
    bool reference_part(const Problem& problem, std::size_t, std::size_t first, std::size_t count,
                        Array& part) const override {
        const auto in = problem.arrays[0].as<float>();
        widens_ ? blur(in, part.as<float>(), first) : blur(in.subspan(first, count), part.as<float>(), 0);
        return true;
    }
    Cost cost(const Problem&) const override { return {}; }

  private:
    static void blur(std::span<const float> in, std::span<float> out, std::size_t first) {
        for (std::size_t k = 0; k < out.size(); ++k) {
            const std::size_t i = first + k, left = i ? i - 1 : 0, right = std::min(i + 1, in.size() - 1);
            out[k] = (in[left] + in[i] + in[right]) / 3;
        }
    }
    bool widens_;
};

TEST(OracleParts, AStencilWithoutItsNeighboursIsReported) {
    Lab lab;
    lab.name = "blur";
    lab.buffers = {{"in", ElementType::float32, Role::input, ""}, {"out", ElementType::float32, Role::output, ""}};
    const Dataset dataset = make_dataset("random", {});
    EXPECT_EQ(find_wrong_part(lab, dataset, Blur(true)), "");
    EXPECT_THAT(find_wrong_part(lab, dataset, Blur(false)),
                AllOf(HasSubstr("blur, dataset \"test\": out[0] is 0 when reference_part computes elements 0 to 0, and "
                                "0.33333334 when reference computes all."),
                      HasSubstr("In labs/blur/oracle.cpp")));
}

// --- generators ---

/// Return the oracle's message about an unknown generator.
std::string error_about(const Oracle& oracle, Dataset dataset) {
    dataset.generator = "no_such_generator";
    try {
        oracle.generate(dataset, 1, 0);
    } catch (const ManifestError& error) {
        return error.what();
    }
    return "";
}

class OracleGenerators : public testing::TestWithParam<std::string> {};

/// Datasets that are only timed are never generated here, so the test looks for their generators in the message.
TEST_P(OracleGenerators, AreAllKnownAndListedIfOneIsUnknown) {
    const Lab lab = load_lab(root_folder(), GetParam());
    for (const Dataset& dataset : lab.datasets)
        EXPECT_THAT(error_about(load_oracle(lab.name), dataset) + ",",
                    AllOf(HasSubstr("datasets/" + lab.name + "/"), HasSubstr("\"" + dataset.name + "\""),
                          HasSubstr("Choose one of: "), HasSubstr(" " + dataset.generator + ",")))
            << "labs/" << lab.name
            << "/oracle.cpp: look the generator up with find_generator (grader/model/recipe.h) before reading its "
            << "parameters. If the code does so, the dataset names a generator that the lab does not have.";
}

/// Return a timed dataset, cut to a size that takes less time.
Dataset cut(Dataset dataset) {
    static const std::map<std::string, std::int64_t> limits = {{"n", 1 << 20}, {"height", 512}, {"histograms", 2}};
    for (const auto& [name, value] : limits)
        if (const auto parameter = dataset.parameters.find(name); parameter != dataset.parameters.end())
            parameter->second = std::min(std::get<std::int64_t>(parameter->second), value);
    return dataset;
}

class TimedAnswers : public testing::TestWithParam<std::string> {};

/// If all calls had the same answer, code could return it without reading the inputs, and its timed outputs would be
/// right. If two inputs are drawn independently, no two calls have the same pair.
TEST_P(TimedAnswers, DependOnTheWindow) {
    const Lab lab = load_lab(root_folder(), GetParam());
    const Oracle& oracle = load_oracle(lab.name);
    const auto inputs = std::count_if(lab.buffers.begin(), lab.buffers.end(),
                                      [](const auto& buffer) { return buffer.role != Role::output; });
    if (inputs != 1) GTEST_SKIP() << "the lab has several inputs";
    const std::size_t step = oracle.window_step(), extra = std::max<std::size_t>(4 << 20, 4 * step) / step * step;
    for (const Dataset& dataset : lab.datasets) {
        if (!dataset.uses.bench || dataset.uses.unscored) continue;
        const timing::Pool pool{oracle.generate(cut(dataset), dataset.seed, extra), step, extra, {}};
        Problem first = pool.call_at(std::vector<std::size_t>(lab.buffers.size(), 0), lab);
        Problem last = pool.call_at(std::vector<std::size_t>(lab.buffers.size(), extra), lab);
        oracle.reference(first, Execution::openmp);
        oracle.reference(last, Execution::openmp);
        bool differ = false;
        for (std::size_t i = 0; i < lab.buffers.size(); ++i)
            if (lab.buffers[i].role != Role::input)
                differ |= std::memcmp(first.arrays[i].data(), last.arrays[i].data(), first.arrays[i].bytes()) != 0;
        EXPECT_TRUE(differ) << lab.name << ", " << dataset.name << ": code can know the answer without the input.";
    }
}

INSTANTIATE_TEST_SUITE_P(Labs, TimedAnswers, testing::ValuesIn(find_labs(root_folder())), name_of);

INSTANTIATE_TEST_SUITE_P(Labs, OracleGenerators, testing::ValuesIn(find_labs(root_folder())), name_of);

}  // namespace
}  // namespace warplab::test
