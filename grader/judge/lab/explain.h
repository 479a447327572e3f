#pragma once
// Mistakes that several labs share, each as data plus a small function. A lab's oracle lists attempts, the most likely
// first. Each attempt compares the output with the result of a mistake, and returns the mistake if they are equal.

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/lab/oracle.h"

namespace warplab {

template <class T>
using Printed = std::conditional_t<std::unsigned_integral<T>, std::string, T>;

/// fmt::format, with separators in unsigned numbers: "1,048,576".
template <class... Values>
std::string sentence(fmt::format_string<Printed<Values>...> text, const Values&... values) {
    const auto print = []<class T>(const T& value) -> Printed<T> {
        if constexpr (std::unsigned_integral<T>)
            return format_count(value);
        else
            return value;
    };
    return fmt::format(text, print(values)...);
}

/// The texts of a hypothesis (explained in oracle.h).
struct Mistake {
    std::string cause, message, hint;
};

/// A mistake that reproduces the actual output exactly; nothing if the attempt does not fit.
using Guess = std::optional<Mistake>;

/// Return a hypothesis for a mistake that is known to reproduce the whole output.
Hypothesis confirmed(const Situation& situation, Mistake mistake);

/// Return the first attempt that fits, as Oracle::hypotheses returns it.
std::vector<Hypothesis> first_fit(const Situation& situation, std::initializer_list<std::function<Guess()>> attempts);

/// Do the same for attempts that are methods of `explanation`, which holds their shared data.
template <class Explanation>
std::vector<Hypothesis> first_fit(const Situation& situation, Explanation& explanation,
                                  std::initializer_list<Guess (Explanation::*)()> attempts) {
    for (const auto attempt : attempts)
        if (Guess guess = (explanation.*attempt)()) return {confirmed(situation, std::move(*guess))};
    return {};
}

/// A mistake, and its output: one value, or all bins.
template <class Output>
struct Outcome {
    Output output;
    Mistake mistake;
};

/// Return the first mistake whose output equals the actual one.
template <class Output>
Guess match(const Output& actual, std::initializer_list<Outcome<Output>> outcomes) {
    for (const auto& [output, mistake] : outcomes)
        if (output == actual) return mistake;
    return {};
}

/// Return the index of the first element that differs; the number of elements if none does.
template <class Values>
std::size_t first_wrong(const Values& right, const Values& actual) {
    std::size_t i = 0;
    while (i < actual.size() && right[i] == actual[i]) ++i;
    return i;
}

// --- elements and the threads that handle them ---

/// Block sizes that students choose, the most common first.
constexpr std::size_t common_block_sizes[] = {256, 128, 512, 1024, 64, 32};

/// The parts of explanations that depend on the lab, such as "products" and "in the sum" in "Only the first 99,840 of
/// 100,000 products are in the sum".
struct Nouns {
    std::string elements = "elements", done = "written";
    std::size_t longest_vector = 4;               // elements
    std::string last_lost = "last_element_lost";  // the cause if only the last element is missing
    std::string idle = "do nothing";              // what a thread past the end should do

    std::string are_done(std::size_t count) const { return (count == 1 ? "is " : "are ") + done; }
};

/// The elements that threads handle, and how often. Without `slices`: element i if begin <= i < end and
/// (i - begin) % period is in [first, first + run); with `others`, all elements except these. With `slices`: elements
/// [k * period, k * period + run) for each k < slices; an element in two slices is handled twice.
struct Reach {
    std::size_t begin = 0, end = 0, period = 1, first = 0, run = 1;
    bool others = false;
    std::size_t times = 1;  // the maximum for any element
    std::size_t rise = 0;   // if > 0, element i is handled at most i / rise + 1 times
    bool falls = false;     // element i is handled at most end - i times; with `rise`, both limits hold in each period
    std::size_t slices = 0;

    std::size_t times_of(std::size_t i) const;
    std::size_t handled(std::size_t n) const;  // the sum of times_of over all n elements, without a loop over them
};

/// Return the reach of the first `kept` elements.
inline Reach prefix(std::size_t kept) { return {.end = kept}; }

/// Return whether a mistake that handles these elements gives the actual output.
using Fits = std::function<bool(const Reach&)>;

/// Return "99,840 = 390 x 256" for 99,840 elements in blocks of 256.
std::string blocks_of(std::size_t count, std::size_t block);

/// Return "the first 32", "the fourth", "number 20 (from 0)" or "numbers 8 to 15 (from 0)".
std::string name_numbers(std::size_t first, std::size_t run);

/// Return a sentence such as "Of every 256 products only the first 32 are in the sum."
std::string describe_part(const Reach& part, const Nouns& nouns);

/// Return the number of elements that the index `blockIdx.x + threadIdx.x` reaches; 0 if n <= block, because the index
/// is then correct.
std::size_t unscaled_end(std::size_t n, std::size_t block);

/// Return the mistake for an index without blockDim.x. The message begins with `handled`, which states the number of
/// elements that were handled, without a full stop.
Mistake block_size_forgotten(const std::string& handled);

/// Return the elements that `threadIdx.x * blockDim.x + blockIdx.x` reaches, for n elements and blocks of this size.
Reach swapped_reach(std::size_t n, std::size_t block);

/// Return the mistake for exchanging blockIdx.x and threadIdx.x. `handled`: see block_size_forgotten().
Mistake block_thread_swapped(const std::string& handled, std::size_t block);

/// Return the mistake if only the first `kept` > 0 of n elements are handled, for example a lost tail, a wrong index or
/// a grid that is too small.
Mistake name_prefix(std::size_t n, std::size_t kept, const Nouns& nouns);

/// Return the mistake if only block k of `blocks` blocks is handled.
Mistake name_share(std::size_t n, std::size_t block, std::size_t blocks, std::size_t k, const Nouns& nouns);

/// Check whether the end is missing: after whole blocks or vectors, after a quarter of the elements, before the last
/// element, after 2^31 elements, or from unscaled_end() on.
Guess guess_tail(std::size_t n, const Nouns& nouns, const Fits& fits);

/// Check whether only one block's elements are handled. `strides`: also try blocks that loop with a grid stride.
Guess guess_share(std::size_t n, const Nouns& nouns, const Fits& fits, bool strides);

/// Find elements that are handled several times, because the index or the step of a loop lacks a factor.
Guess guess_repeated(std::size_t n, const Nouns& nouns, const Fits& fits);

/// Find loops whose step is a multiple of the number of threads, or one more or one less than this number.
Guess guess_long_stride(std::size_t n, const Nouns& nouns, const Fits& fits);

/// Return the mistake for handling every element from `begin` to the end twice.
Mistake tail_twice(std::size_t n, std::size_t begin, const Nouns& nouns);

// --- outputs whose elements have separate values ---

/// A mistake, and its result for element i; NaN if it reads outside the inputs.
template <class T>
struct Formula {
    Mistake mistake;
    std::function<T(std::size_t i)> value;
};

/// Check whether the elements that no thread wrote are a tail or a regular pattern. `gives(written)` returns true if
/// writing only these elements reproduces the actual output.
Guess guess_unwritten(std::size_t n, const Nouns& nouns, const std::function<bool(std::size_t i)>& is_unwritten,
                      const Fits& gives);

/// One output, compared element by element, within the oracle's tolerance.
template <class T>
class Output {
  public:
    Output(const Oracle& oracle, const Situation& situation, std::size_t buffer)
        : right(situation.problem.arrays[buffer].as<T>()),
          actual(situation.actual[buffer].as<T>()),
          before(situation.before[buffer].as<T>()),
          oracle_(oracle),
          situation_(situation),
          buffer_(buffer) {
        std::size_t stride = 1;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            if (!is_wrong(i)) continue;
            if (wrong++ == 0) first = i;
            if (wrong % stride == 0) samples_.push_back(i);
            if (samples_.size() < 2 * enough) continue;
            for (std::size_t k = 0; k < enough; ++k) samples_[k] = samples_[2 * k];
            samples_.resize(enough);
            stride *= 2;
        }
        for (std::size_t i = 0; i < actual.size(); i += actual.size() / enough + 1) samples_.push_back(i);
    }

    bool fits(std::size_t i, T value) const {
        if (same(value, actual[i])) return true;
        // A formula that reads outside the inputs (NaN) fits every NaN that the call wrote.
        if (value != value) return actual[i] != actual[i] && !same(actual[i], before[i]);
        return oracle_.accepts(situation_.problem, buffer_, i, value, actual[i]);
    }
    bool is_wrong(std::size_t i) const { return !fits(i, right[i]); }
    bool is_unwritten(std::size_t i) const { return same(actual[i], before[i]) && is_wrong(i); }

    /// Return whether every wrong element passes the test; false if none is wrong.
    template <class Test>
    bool all_wrong(Test test) const {
        for (std::size_t i = first; i < actual.size(); ++i)
            if (!test(i) && is_wrong(i)) return false;
        return wrong > 0;
    }

    /// Return whether value(i) fits every element. A few hundred are tested first, which excludes most mistakes.
    template <class Value>
    bool gives(const Value& value) const {
        bool explains = false;  // whether an element agrees by its value or bits, and not only because both are NaN
        for (const std::size_t i : samples_) {
            const T candidate = value(i);
            if (!fits(i, candidate)) return false;
            explains = explains || candidate == candidate || same(candidate, actual[i]);
        }
        for (std::size_t i = 0; explains && i < actual.size(); ++i)
            if (!fits(i, value(i))) return false;
        return explains;
    }

    /// Return the first mistake whose formula gives every element.
    Guess match(const std::vector<Formula<T>>& formulas) const {
        for (const auto& [mistake, value] : formulas)
            if (gives(value)) return mistake;
        return {};
    }

    Guess guess_unwritten(const Nouns& nouns) const {
        return warplab::guess_unwritten(
            actual.size(), nouns, [this](std::size_t i) { return is_unwritten(i); },
            [this](const Reach& written) {
                return gives([&](std::size_t i) { return written.times_of(i) ? right[i] : before[i]; });
            });
    }

    const std::span<const T> right, actual, before;
    std::size_t wrong = 0, first = 0;  // how many elements are wrong, and the first of them

  private:
    static constexpr std::size_t enough = 150;
    static bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

    const Oracle& oracle_;
    const Situation& situation_;
    std::size_t buffer_;
    std::vector<std::size_t> samples_;
};

// --- outputs that the call did not write ---

/// Return the mistake for not writing `output` if n = 0. `reason` is the reason to write it: "an empty sum is 0".
Mistake empty_not_written(const std::string& output, const std::string& reason);

/// Return the mistake for an answer that equals the previous call's. The message is "`what` of the previous call,
/// although `inputs` changed since".
Mistake stale_result(const std::string& what, const std::string& inputs);

/// Check whether an output equals the previous call's bit for bit.
Guess guess_stale(const Situation& situation, std::size_t output, const std::string& what, const std::string& inputs);

}  // namespace warplab
