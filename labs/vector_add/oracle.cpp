#include "grader/judge/lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "grader/common/text.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { a, b, out };

std::size_t elements(const Problem& problem) { return static_cast<std::size_t>(problem.sizes[0]); }

// --- generators ---

struct Operands {
    float a, b;
};

/// Either sign, 2^-8 to 2^8.
float value_of(std::uint32_t bits) {
    const std::uint32_t sign = bits & 0x80000000u, exponent = 127 - 8 + (bits >> 27) % 16, fraction = bits & 0x7fffffu;
    return std::bit_cast<float>(sign | exponent << 23 | fraction);
}

Operands random_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 0, i);
    return {value_of(static_cast<std::uint32_t>(bits)), value_of(static_cast<std::uint32_t>(bits >> 32))};
}

/// out[i] = i + 0.5: a wrong element shows which one it is.
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

template <Operands at(std::uint64_t, std::size_t)>
void fill(Problem& problem, std::uint64_t seed) {
    const auto x = problem.arrays[a].as<float>(), y = problem.arrays[b].as<float>();
#pragma omp parallel for
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Operands operands = at(seed, i);
        x[i] = operands.a;
        y[i] = operands.b;
    }
}

const std::map<std::string, void (*)(Problem&, std::uint64_t)> generators = {
    {"random", fill<random_operands>},
    {"counting", fill<counting_operands>},
    {"alternating", fill<alternating_operands>},
    {"extremes", fill<extreme_operands>}};

// --- references ---

void add_sequential(const float* __restrict x, const float* __restrict y, float* __restrict sums, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sums[i] = x[i] + y[i];
}

void add_openmp(const float* __restrict x, const float* __restrict y, float* __restrict sums, std::size_t n) {
#pragma omp parallel for simd
    for (std::size_t i = 0; i < n; ++i) sums[i] = x[i] + y[i];
}

// --- what students' mistakes would give ---

/// Looks at the output once and lists the mistakes that could have made it; the judge tries each on every element.
class Suspicions {
  public:
    explicit Suspicions(const Situation& situation)
        : problem_(situation.problem),
          n_(elements(situation.problem)),
          right_(problem_.arrays[out].as<std::uint32_t>()),
          actual_(situation.actual[out].as<std::uint32_t>()),
          before_(situation.before[out].as<std::uint32_t>()),
          before_array_(situation.before[out]),
          actual_array_(situation.actual[out]) {
        first_ = static_cast<std::size_t>(std::mismatch(right_.begin(), right_.end(), actual_.begin()).first -
                                          right_.begin());
        if (first_ == n_) return;
        suspect_unwritten_end();
        suspect_unwritten_pattern();
        suspect_tail_from_the_start();
        suspect_lost_sign();
        suspect_other_operation();
        suspect_shift();
        suspect_previous(situation.previous);
        suspect_added_to_garbage();
    }

    std::vector<Hypothesis> found() && { return std::move(found_); }

  private:
    bool unwritten(std::size_t i) const { return actual_[i] == before_[i] && actual_[i] != right_[i]; }

    void suspect(std::string cause, std::string message, std::string hint, std::function<void(Array&)> mistake) {
        found_.push_back(
            {std::move(cause), std::move(message), std::move(hint), [mistake](std::vector<Array>& outputs) {
                 mistake(outputs[out]);
                 return true;
             }});
    }

    void suspect_unwritten_end() {
        if (!unwritten(first_) || !unwritten(n_ - 1)) return;
        const auto [cause, message, hint] = explain_unwritten_end();
        suspect(cause, message, hint, [first = first_, before = before_array_](Array& sums) {
            const std::size_t bytes = first * sizeof(float);
            std::memcpy(sums.data() + bytes, before.data() + bytes, sums.bytes() - bytes);
        });
    }

    struct Explanation {
        std::string cause, message, hint;
    };

    /// Elements from first_ on were never written.
    Explanation explain_unwritten_end() const {
        const std::size_t lost = n_ - first_;
        const std::string counts =
            fmt::format("Only the first {} of {} elements are written", format_count(first_), format_count(n_));
        if (first_ == 1ull << 31 || (first_ == 0 && n_ > 1ull << 31))
            return {"int_overflow",
                    counts + ": an int ends at 2^31 - 1, and so does what is indexed or counted with one.",
                    "Use std::size_t for n and for the index, and widen before you multiply: "
                    "std::size_t{blockIdx.x} * blockDim.x + threadIdx.x."};
        if (first_ == 0)
            return {"never_written", "No element of out is written: it still holds what it held before the call.",
                    "Is the kernel launched, and does it write to out?"};
        if (const std::size_t block = whole_blocks())
            return {"tail_lost",
                    fmt::format("{} ({} = {} x {}): {} / {} rounds down, and the last {} have no thread.", counts,
                                format_count(first_), format_count(first_ / block), block, format_count(n_), block,
                                format_count(lost)),
                    fmt::format("Round the number of blocks up: (n + {} - 1) / {}.", block, block)};
        if (first_ == n_ / 4 * 4)
            return {"vector_tail_lost",
                    fmt::format("{}: {} whole vectors of four. The {} after them are lost.", counts,
                                format_count(n_ / 4), lost),
                    "n need not be a multiple of 4: add the last n % 4 elements one by one."};
        if (std::has_single_bit(first_) && first_ >= 32 && first_ <= 1024)
            return {"one_block_only", fmt::format("{}: one block's worth.", counts),
                    "Does the index contain blockIdx.x * blockDim.x, and does the grid have more than one block?"};
        if (lost == 1)
            return {"last_element_lost", counts + ": the last one is left out.",
                    "Indices run from 0 to n - 1: is the guard i < n, and not i < n - 1?"};
        return {"grid_too_small",
                first_ % 32 ? counts + "."
                            : fmt::format("{}: {} threads, each for one element, are all there are.", counts,
                                          format_count(first_)),
                "Either launch a thread for every element, or let each thread loop on: i += gridDim.x * blockDim.x."};
    }

    /// The block size for which just the last, partial block is lost; 0 if there is none.
    std::size_t whole_blocks() const {
        for (const std::size_t block : {256, 128, 512, 1024, 64, 32, 2048, 4096, 8192, 16384})
            if (first_ == n_ / block * block && n_ - first_ > 3) return block;
        for (const std::size_t block : {256, 128, 512, 1024})
            if (first_ == n_ / block * block) return block;
        return 0;
    }

    /// Runs of unwritten elements at regular distances, from first_ on.
    void suspect_unwritten_pattern() {
        if (!unwritten(first_)) return;
        std::size_t end = first_;
        while (end < n_ && unwritten(end)) ++end;
        std::size_t next = end;
        while (next < n_ && !unwritten(next)) ++next;
        if (next == n_) return;
        const std::size_t run = end - first_, period = next - first_;
        std::string message = fmt::format("From element {} on, {} of every {} elements are never written.",
                                          format_count(first_), format_count(run), format_count(period));
        std::string hint =
            "The loop steps over elements that no thread takes: its step is to be the number of threads.";
        std::string cause = "steps_too_far";
        if (period == 4) {
            cause = "component_lost";
            hint = "A vector has four components, x, y, z and w: are all four added and stored?";
        }
        suspect(cause, message, hint, [first = first_, run, period, before = before_array_](Array& sums) {
            const auto to = sums.as<std::uint32_t>();
            const auto from = before.as<std::uint32_t>();
            for (std::size_t start = first; start < to.size(); start += period)
                std::copy_n(&from[start], std::min(run, to.size() - start), &to[start]);
        });
    }

    /// What is left after whole vectors or blocks is computed from the first elements.
    void suspect_tail_from_the_start() {
        if (n_ - first_ > first_ || actual_[first_] != right_[0]) return;
        suspect("tail_index",
                fmt::format("The last {} elements, from {} on, hold the sums of the first ones.",
                            format_count(n_ - first_), format_count(first_)),
                "The index of what is left over starts after the whole vectors or blocks, in all three arrays.",
                [first = first_](Array& sums) {
                    const auto values = sums.as<float>();
                    std::copy(values.begin(), values.end() - static_cast<std::ptrdiff_t>(first),
                              values.begin() + static_cast<std::ptrdiff_t>(first));
                });
    }

    void suspect_lost_sign() {
        if (right_[first_] != std::bit_cast<std::uint32_t>(-0.0f) || actual_[first_] != 0) return;
        const auto x = problem_.arrays[a].as<float>(), y = problem_.arrays[b].as<float>();
        suspect("lost_sign", "out[i] is 0 where a[i] and b[i] are -0: 0.0f was added, too, and 0.0f + -0.0f is 0.0f.",
                "Let the sum begin with a[i] instead of with 0.0f.", [x, y](Array& sums) {
                    const auto values = sums.as<float>();
                    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.0f + x[i] + y[i];
                });
    }

    void suspect_other_operation() {
        using Operation = float (*)(float, float);
        static const std::pair<const char*, Operation> operations[] = {
            {"a[i]", [](float x, float) { return x; }},
            {"b[i]", [](float, float y) { return y; }},
            {"a[i] * b[i]", [](float x, float y) { return x * y; }},
            {"a[i] - b[i]", [](float x, float y) { return x - y; }},
            {"b[i] - a[i]", [](float x, float y) { return y - x; }},
            {"a[i] + a[i]", [](float x, float) { return x + x; }},
            {"b[i] + b[i]", [](float, float y) { return y + y; }}};
        const auto x = problem_.arrays[a].as<float>(), y = problem_.arrays[b].as<float>();
        for (const auto& [text, operation] : operations) {
            if (std::bit_cast<std::uint32_t>(operation(x[first_], y[first_])) != actual_[first_]) continue;
            suspect("wrong_operation", fmt::format("out[i] is {}; it should be a[i] + b[i].", text), "",
                    [x, y, operation](Array& sums) {
                        const auto values = sums.as<float>();
                        for (std::size_t i = 0; i < values.size(); ++i) values[i] = operation(x[i], y[i]);
                    });
        }
    }

    /// Every element holds its neighbour's sum; what the one without a neighbour holds is left open.
    void suspect_shift() {
        for (const bool later : {false, true}) {
            if (n_ < 4 || actual_[1] != right_[later ? 2 : 0]) continue;
            suspect("shifted",
                    fmt::format("out[i] holds the sum of elements i {} 1: every element is one place off.",
                                later ? "+" : "-"),
                    "The same index i belongs in all three: out[i] = a[i] + b[i], counted from 0.",
                    [later, actual = actual_array_](Array& sums) {
                        const auto values = sums.as<float>();
                        const auto open = actual.as<float>();
                        if (later) {
                            std::copy(values.begin() + 1, values.end(), values.begin());
                            values.back() = open.back();
                        } else {
                            std::copy_backward(values.begin(), values.end() - 1, values.end());
                            values.front() = open.front();
                        }
                    });
        }
    }

    void suspect_previous(const Problem* previous) {
        if (!previous || previous->arrays[out].count() != n_ ||
            previous->arrays[out].as<std::uint32_t>()[first_] != actual_[first_])
            return;
        suspect("stale_result", "out holds the sums of the call before, although a and b have changed since.",
                "Nothing may be kept from one call to the next: compute from what a and b hold now.",
                [old = previous->arrays[out]](Array& sums) { std::memcpy(sums.data(), old.data(), sums.bytes()); });
    }

    /// out[i] += …, after a call that left numbers in out.
    void suspect_added_to_garbage() {
        if (std::bit_cast<float>(right_[first_]) + before_array_.as<float>()[first_] !=
            actual_array_.as<float>()[first_])
            return;
        suspect("added_to_garbage",
                fmt::format("out[{}] is what it held before the call plus the sum.", format_count(first_)),
                "out holds garbage before the call: assign with =, not +=.", [before = before_array_](Array& sums) {
                    const auto values = sums.as<float>();
                    const auto old = before.as<float>();
                    for (std::size_t i = 0; i < values.size(); ++i) values[i] += old[i];
                });
    }

    const Problem& problem_;
    std::size_t n_, first_;  // first_: index of the first wrong element
    std::span<const std::uint32_t> right_, actual_, before_;
    Array before_array_, actual_array_;
    std::vector<Hypothesis> found_;
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
        generator(problem, seed);
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const auto* x = problem.arrays[a].as<float>().data();
        const auto* y = problem.arrays[b].as<float>().data();
        auto* sums = problem.arrays[out].as<float>().data();
        (how == Execution::sequential ? add_sequential : add_openmp)(x, y, sums, elements(problem));
    }

    bool reference_part(const Problem& problem, std::size_t, std::size_t first, std::size_t count,
                        Array& part) const override {
        const auto* x = problem.arrays[a].as<float>().data() + first;
        const auto* y = problem.arrays[b].as<float>().data() + first;
        add_sequential(x, y, part.as<float>().data(), count);
        return true;
    }

    Cost cost(const Problem& problem) const override {
        const double n = static_cast<double>(elements(problem));
        return {12 * n, 12 * n, n, 1, "12 n: two reads and a write of 4 bytes each"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Suspicions(situation).found();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const VectorAdd oracle;
    return &oracle;
}

}  // namespace warplab
