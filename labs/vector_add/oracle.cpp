#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/lab/explain.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { a, b, out };

std::size_t elements(const Problem& problem) { return static_cast<std::size_t>(problem.sizes[0]); }

// --- generators ---

struct Operands {
    float a, b;
};

/// Both signs, and magnitudes from 2^-8 to 2^8.
float value_of(std::uint32_t bits) {
    const std::uint32_t sign = bits & 0x80000000u, exponent = 127 - 8 + (bits >> 27) % 16, fraction = bits & 0x7fffffu;
    return std::bit_cast<float>(sign | exponent << 23 | fraction);
}

Operands random_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 0, i);
    return {value_of(static_cast<std::uint32_t>(bits)), value_of(static_cast<std::uint32_t>(bits >> 32))};
}

/// out[i] = i + 0.5, so that a wrong element shows its index.
Operands counting_operands(std::uint64_t, std::size_t i) { return {static_cast<float>(i), 0.5f}; }

/// Signs alternate, and b nearly cancels a.
Operands alternating_operands(std::uint64_t seed, std::size_t i) {
    const float x = std::copysign(random_operands(seed, i).a, i % 2 ? -1.0f : 1.0f);
    return {x, -std::nextafter(x, 0.0f)};
}

/// Pairs whose sums are special: signed zeros, subnormals, ties, overflow to infinity. None is NaN.
Operands extreme_operands(std::uint64_t seed, std::size_t i) {
    using limits = std::numeric_limits<float>;
    static constexpr Operands special[] = {{-0.0f, -0.0f},
                                           {-0.0f, 0.0f},
                                           {limits::denorm_min(), limits::denorm_min()},
                                           {limits::min(), -1.5f * limits::min()},
                                           {limits::min(), -limits::denorm_min()},
                                           {limits::max(), limits::max()},
                                           {limits::lowest(), -1e38f},
                                           {limits::max(), -limits::max()},
                                           {1.0f, 0x1p-24f},
                                           {1.0f + limits::epsilon(), 0x1p-24f},
                                           {0x1p24f, 1.0f},
                                           {1e30f, -1e-30f}};
    return special[random_bits(seed, 1, i) % std::size(special)];
}

const std::map<std::string, Operands (*)(std::uint64_t seed, std::size_t i)> generators = {
    {"random", random_operands},
    {"counting", counting_operands},
    {"alternating", alternating_operands},
    {"extremes", extreme_operands}};

// --- references ---

void add(const float* __restrict x, const float* __restrict y, float* __restrict sums, std::size_t n, Execution how) {
#pragma omp parallel for simd if (parallel : how == Execution::openmp)
    for (std::size_t i = 0; i < n; ++i) sums[i] = x[i] + y[i];
}

// --- outputs of students' mistakes ---

/// Return the mistakes that change each element's value.
std::vector<Formula<float>> wrong_formulas(const Problem& problem, const Output<float>& sums) {
    const auto x = problem.arrays[a].as<float>(), y = problem.arrays[b].as<float>();
    const auto wrong_operation = [](const char* text) {
        return Mistake{"wrong_operation", sentence("out[i] is {}; it should be a[i] + b[i].", text),
                       "Which arrays does the line read? And does the launch pass a, b and out, each once, in the "
                       "order of the kernel's parameters?"};
    };
    const auto shifted = [](const char* sign) {
        return Mistake{"shifted",
                       sentence("out[i] holds the sum of elements i {} 1: every element is one place off.", sign),
                       "The same index i belongs in all three: out[i] = a[i] + b[i], counted from 0."};
    };
    const std::size_t first = sums.first, n = sums.right.size();
    // The addition turns -0.0f into 0.0f, because -0.5f is 0 as an int.
    const auto truncate = [](float sum) { return std::abs(sum) < 0x1p31f ? std::trunc(sum) + 0.0f : sum; };
    std::size_t equal = 0;  // for some inputs, every a[i] equals the truncated sum
    while (equal < n && truncate(x[equal] + y[equal]) == x[equal]) ++equal;
    const Mistake truncated =
        equal < n
            ? Mistake{"truncated", "Every sum is truncated to a whole number.",
                      "The sum is a float. Is it stored in an int?"}
            : Mistake{"wrong_operation",
                      "out[i] is a[i], which is also the sum truncated to a whole number; it should be a[i] + b[i].",
                      "Does the code add b[i]? Does it store the sum in an int anywhere?"};
    std::vector<Formula<float>> formulas{
        {{"tail_index",
          sentence("The last {} elements, from {} on, hold the sums of the first ones.", n - first, first),
          "In all three arrays, the remaining elements begin after the whole vectors or blocks."},
         [=, &sums](std::size_t i) { return sums.right[i < first ? i : (i - first) % n]; }},
        {{"lost_sign", "out[i] is 0 where a[i] and b[i] are -0: 0.0f was added, too, and 0.0f + -0.0f is 0.0f.",
          "Let the sum begin with a[i] instead of with 0.0f."},
         [=](std::size_t i) { return 0.0f + x[i] + y[i]; }},
        {truncated, [=](std::size_t i) { return truncate(x[i] + y[i]); }},
        {wrong_operation("a[i]"), [=](std::size_t i) { return x[i]; }},
        {wrong_operation("b[i]"), [=](std::size_t i) { return y[i]; }},
        {wrong_operation("a[i] * b[i]"), [=](std::size_t i) { return x[i] * y[i]; }},
        {wrong_operation("a[i] - b[i]"), [=](std::size_t i) { return x[i] - y[i]; }},
        {wrong_operation("b[i] - a[i]"), [=](std::size_t i) { return y[i] - x[i]; }},
        {wrong_operation("a[i] + a[i]"), [=](std::size_t i) { return x[i] + x[i]; }},
        {wrong_operation("b[i] + b[i]"), [=](std::size_t i) { return y[i] + y[i]; }},
        {{"added_to_garbage", "Every element is what it held before the call plus the sum.",
          "out holds garbage before the call: assign with =, not +=."},
         [&](std::size_t i) { return sums.right[i] + sums.before[i]; }}};
    if (n < 3) return formulas;  // too few elements to show a shift
    formulas.push_back({shifted("-"), [&](std::size_t i) { return i == 0 ? sums.actual[i] : sums.right[i - 1]; }});
    formulas.push_back(
        {shifted("+"), [=, &sums](std::size_t i) { return i + 1 == n ? sums.actual[i] : sums.right[i + 1]; }});
    return formulas;
}

/// Tests whether wrong elements are sums of elements of a and b with different indices. A sample of the wrong elements
/// is tested, large enough to exclude chance. The nearest fitting index is used.
class OtherIndex {
  public:
    OtherIndex(const Problem& problem, const Output<float>& sums)
        : x_(problem.arrays[a].as<float>()), y_(problem.arrays[b].as<float>()), sums_(sums) {}

    Guess guess() const {
        for (const bool of_a : {false, true}) {
            std::size_t i = sums_.first, tried = 0;
            const std::size_t step = std::max<std::size_t>(1, sums_.right.size() / 64) | 1;
            for (; i < sums_.right.size(); i += step) {
                if (!sums_.is_wrong(i)) continue;
                if (find(i, of_a) == sums_.right.size()) break;
                ++tried;
            }
            if (tried < min_tried || i < sums_.right.size()) continue;
            const std::size_t at = sums_.first, other = find(at, of_a);
            return Mistake{
                "other_index",
                sentence("out[{0}] is a[{1}] + b[{2}]; it should be a[{0}] + b[{0}]. The other wrong elements "
                         "are such sums, too.",
                         at, of_a ? other : at, of_a ? at : other),
                "The same index belongs in all three arrays: compare the lines that compute them."};
        }
        return {};
    }

  private:
    static constexpr std::size_t min_tried = 8, max_elements = 1 << 21;

    /// Return the index j nearest to i, except i, for which a[j] + b[i] (if `of_a`; otherwise a[i] + b[j]) equals
    /// element i of the submission's output; n if there is none.
    std::size_t find(std::size_t i, bool of_a) const {
        const std::size_t n = sums_.right.size();
        const auto gives = [&](std::size_t j) { return sums_.actual[i] == (of_a ? x_[j] + y_[i] : x_[i] + y_[j]); };
        for (std::size_t off = 1; n <= max_elements && off < n; ++off) {
            if (off <= i && gives(i - off)) return i - off;
            if (off < n - i && gives(i + off)) return i + off;
        }
        return n;
    }

    std::span<const float> x_, y_;
    const Output<float>& sums_;
};

class VectorAdd : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        const auto& generator = find_generator(dataset, generators);
        require_only(dataset, {"n"});
        const std::int64_t n = read_size(dataset, "n");
        const std::size_t count = static_cast<std::size_t>(n);
        Problem problem{{n},
                        {},
                        {Array(ElementType::float32, count + extra), Array(ElementType::float32, count + extra),
                         Array(ElementType::float32, count)}};
        const auto x = problem.arrays[a].as<float>(), y = problem.arrays[b].as<float>();
#pragma omp parallel for
        for (std::size_t i = 0; i < x.size(); ++i) {
            const Operands operands = generator(seed, i);
            x[i] = operands.a;
            y[i] = operands.b;
        }
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const auto* x = problem.arrays[a].as<float>().data();
        const auto* y = problem.arrays[b].as<float>().data();
        auto* sums = problem.arrays[out].as<float>().data();
        add(x, y, sums, elements(problem), how);
    }

    bool reference_part(const Problem& problem, std::size_t, std::size_t first, std::size_t count,
                        Array& part) const override {
        const auto* x = problem.arrays[a].as<float>().data() + first;
        const auto* y = problem.arrays[b].as<float>().data() + first;
        add(x, y, part.as<float>().data(), count, Execution::sequential);
        return true;
    }

    Cost cost(const Problem& problem) const override {
        const double n = static_cast<double>(elements(problem));
        return {12 * n, 12 * n, n, 1, "12 n: two reads and a write of 4 bytes each"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        const Output<float> sums(*this, situation, out);
        return first_fit(situation, {[&] {
                                         return sums.guess_unwritten({"elements", "written"});
                                     },
                                     [&] { return sums.match(wrong_formulas(situation.problem, sums)); },
                                     [&] { return guess_stale(situation, out, "out holds the sums", "a and b have"); },
                                     [&] { return OtherIndex(situation.problem, sums).guess(); }});
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        const Output<float> sums(*this, situation, out);
        const std::string of_a = find_operand(situation.problem, a, sums.first, call),
                          of_b = find_operand(situation.problem, b, sums.first, call);
        if (of_a.empty() || of_b.empty()) return "";
        return sentence("out[{}] is computed from {} and {}.", sums.first, of_a, of_b);
    }

  private:
    /// Describe which element of an operand is in out[at], found by a call in which the other operand is 0. Empty if
    /// the call fails, or if its result is not the number of an element.
    static std::string find_operand(const Problem& problem, Buffer operand, std::size_t at, const Experiment& call) {
        constexpr std::size_t max_exact = 1 << 24;
        const std::size_t n = elements(problem);
        if (n >= max_exact) return "";
        Problem numbered = problem;
        numbered.arrays[a] = Array(ElementType::float32, problem.arrays[a].count());
        numbered.arrays[b] = Array(ElementType::float32, problem.arrays[b].count());
        const auto values = numbered.arrays[operand].as<float>();
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i + 1);
        const auto outputs = call(numbered);
        if (!outputs) return "";
        const float result = (*outputs)[out].as<float>()[at];
        const char* const name = operand == a ? "a" : "b";
        if (result == 0) return sentence("no element of {}", name);
        if (!(result >= 1 && result <= static_cast<float>(n)) || std::trunc(result) != result) return "";
        return sentence("{}[{}]", name, static_cast<std::size_t>(result) - 1);
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const VectorAdd oracle;
    return &oracle;
}

}  // namespace warplab
