#include "grader/judge/check/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "grader/common/text.h"
#include "grader/judge/device/bulk.h"
#include "grader/judge/sandbox/apart.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

bool same_bytes(const Array& a, const Array& b, std::size_t index) {
    const std::size_t width = element_bytes(a.type());
    return std::memcmp(a.data() + index * width, b.data() + index * width, width) == 0;
}

bool holds_pattern(const Array& array, std::size_t index, std::uint32_t pattern) {
    const std::size_t width = element_bytes(array.type());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(array.data()) + index * width;
    for (std::size_t i = 0; i < width; ++i)
        if (bytes[i] != static_cast<std::uint8_t>(pattern >> (8 * ((index * width + i) % 4)))) return false;
    return true;
}

/// Return how many times the pattern of uninitialized variables (the CPU backend's compiler writes 0xFE in each byte)
/// went into a value; 0 if it does not explain the value.
std::uint32_t unset_terms(const Array& expected, const Array& actual, std::size_t index) {
    constexpr std::uint32_t half_unset = 0x7F7F7F7F, its_inverse = 0x1020407F, most_terms = 1 << 20;
    static_assert(half_unset * its_inverse == 1);
    if (actual.type() == ElementType::float32) {
        const double terms = value_at(actual, index) / -1.6947395e38;
        return terms > 0.999 && terms < 2.001 ? static_cast<std::uint32_t>(std::lround(terms)) : 0;
    }
    if (element_bytes(actual.type()) != sizeof(std::uint32_t)) return 0;
    const auto difference = static_cast<std::uint32_t>(static_cast<std::int64_t>(value_at(actual, index)) -
                                                       static_cast<std::int64_t>(value_at(expected, index)));
    const std::uint32_t terms = difference / 2 * its_inverse & 0x7FFFFFFF;
    return difference % 2 == 0 && terms <= most_terms ? terms : 0;
}

/// Properties that the wrong elements of one output have in common.
struct Pattern {
    std::size_t count = 0, wrong = 0, first = 0, last = 0;
    std::size_t unwritten = 0, nan = 0, unset = 0;
    std::uint32_t unset_terms = 0;  // of the first wrong element
    std::size_t step = 0;           // > 1: all wrong indices are first + k * step, and there are many
    bool contiguous = false;
    double ratio = 0;          // actual / expected if it is the same for all wrong elements, else 0
    double largest_error = 0;  // of doubles, relative to the largest correct value; else 0
    std::int64_t shift = 0;    // actual[i] == expected[i + shift] for all wrong elements, else 0
};

bool accepted(const Oracle& oracle, const Problem& problem, std::size_t buffer, const Array& expected,
              const Array& actual, std::size_t offset, std::size_t i) {
    return same_bytes(expected, actual, i) ||
           oracle.accepts(problem, buffer, offset + i, value_at(expected, i), value_at(actual, i));
}

std::vector<std::size_t> wrong_indices(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                       const Array& expected, const Array& actual) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < expected.count(); ++i)
        if (!accepted(oracle, problem, buffer, expected, actual, 0, i)) found.push_back(i);
    return found;
}

double common_ratio(const Array& expected, const Array& actual, const std::vector<std::size_t>& wrong) {
    double ratio = 0;
    for (const std::size_t i : wrong) {
        const double e = value_at(expected, i), a = value_at(actual, i);
        if (e == 0 || !std::isfinite(a) || a == 0) return 0;
        if (ratio == 0) ratio = a / e;
        if (std::abs(a / e - ratio) > 1e-6 * std::abs(ratio)) return 0;
    }
    return ratio;
}

double largest_error(const Array& expected, const Array& actual) {
    if (expected.type() != ElementType::float64) return 0;
    double error = 0, scale = 0;
    for (std::size_t i = 0; i < expected.count(); ++i) {
        const double difference = std::abs(value_at(actual, i) - value_at(expected, i));
        if (!std::isfinite(difference)) return 0;
        error = std::max(error, difference);
        scale = std::max(scale, std::abs(value_at(expected, i)));
    }
    return scale > 0 ? error / scale : 0;
}

std::int64_t common_shift(const Array& expected, const Array& actual, const std::vector<std::size_t>& wrong) {
    const auto count = static_cast<std::int64_t>(expected.count());
    for (const std::int64_t shift : {-1, 1}) {
        const auto matches = [&](std::size_t i) {
            const std::int64_t from = static_cast<std::int64_t>(i) + shift;
            return from < 0 || from >= count ||
                   value_at(actual, i) == value_at(expected, static_cast<std::size_t>(from));
        };
        if (wrong.size() > 8 && std::all_of(wrong.begin(), wrong.end(), matches)) return shift;
    }
    return 0;
}

Pattern find_pattern(const Array& expected, const Array& actual, const std::vector<std::size_t>& wrong,
                     std::uint32_t poison) {
    Pattern pattern;
    pattern.count = expected.count();
    pattern.wrong = wrong.size();
    pattern.first = wrong.front();
    pattern.last = wrong.back();
    pattern.contiguous = pattern.last - pattern.first + 1 == wrong.size();
    for (std::size_t k = 0; k < wrong.size(); ++k) {
        pattern.unwritten += holds_pattern(actual, wrong[k], poison);
        pattern.nan += std::isnan(value_at(actual, wrong[k]));
        pattern.unset += unset_terms(expected, actual, wrong[k]) > 0;
        if (k) pattern.step = std::gcd(pattern.step, wrong[k] - wrong[k - 1]);
    }
    const bool every =
        pattern.step > 1 && wrong.size() > 4 && (pattern.last - pattern.first) / pattern.step + 1 == wrong.size();
    if (!every) pattern.step = 0;
    pattern.unset_terms = unset_terms(expected, actual, pattern.first);
    pattern.ratio = common_ratio(expected, actual, wrong);
    pattern.largest_error = largest_error(expected, actual);
    pattern.shift = common_shift(expected, actual, wrong);
    return pattern;
}

/// Return "all of them", "all from 999936 on", …
std::string which_elements(const Pattern& p) {
    if (p.wrong == p.count) return p.count == 1 ? "it is the only one" : "all of them";
    if (p.wrong == 1) return "that one only";
    if (p.contiguous && p.last + 1 == p.count)
        return fmt::format("all from index {} to the end", format_count(p.first));
    if (p.contiguous && p.first == 0) return fmt::format("the first {}", format_count(p.wrong));
    if (p.contiguous) return fmt::format("indices {} to {}", format_count(p.first), format_count(p.last));
    if (p.step) return fmt::format("every {}th from index {}", p.step, p.first);
    return fmt::format("scattered between {} and {}", format_count(p.first), format_count(p.last));
}

/// Return a block size for which the wrong tail is the last, partial block; 0 if there is none.
std::size_t partial_block(const Pattern& p) {
    if (!p.contiguous || p.last + 1 != p.count || p.first == 0) return 0;
    for (std::size_t block : {1024, 512, 256, 128, 64, 32, 16, 8, 4})
        if (p.first % block == 0 && p.count - p.first < block) return block;
    return 0;
}

constexpr std::size_t few = 32;  // elements: too few to infer a pattern from their places

/// Whether many doubles, all of them, are nearly correct: an omitted or wrong term would affect some more than others.
bool has_rounded(const Pattern& p) {
    return p.wrong > few && p.wrong * 2 > p.count && p.largest_error > 0 && p.largest_error < 2e-6;
}

std::string hint_for(const Pattern& p) {
    if (p.unset == p.wrong)
        return fmt::format(
            "Wrong by {} 0xFEFEFEFE, which is what a local variable holds here until it is set (on a GPU, anything). "
            "Is a sum, or an array of counters, added to before it is set to 0?",
            p.unset_terms == 1 ? "once" : format_count(p.unset_terms) + " times");
    if (const std::size_t block = partial_block(p))
        return fmt::format(
            "{} = {} x {}: only the last, partial group of {} is wrong. Is the number of blocks (or vectors) rounded "
            "up, and the tail handled?",
            format_count(p.first), p.first / block, block, block);
    if (has_rounded(p))
        return fmt::format(
            "All values are nearly right, to {:.0f} digits, as if something on the way were a float, which holds 7. Is "
            "a variable, a constant or a function for float (0.5f, fabsf) used where the contract has double?",
            std::floor(-std::log10(p.largest_error)));
    if (p.contiguous && p.first > 0 && p.last + 1 == p.count && p.unwritten == p.wrong && p.count > few)
        return "The grid seems too small for the data: does it cover n, or does each thread loop on with a stride?";
    if (p.unwritten == p.count) return "Is the kernel launched at all, and does it write to this output?";
    if (p.step)
        return fmt::format("One in {} goes wrong: look at what depends on the index modulo {}.", p.step, p.step);
    if (p.shift)
        return fmt::format("Each value is that of its neighbour: is the index off by {}?",
                           p.shift > 0 ? "one too many" : "one");
    const bool is_multiple = p.ratio >= 2 && p.ratio == std::round(p.ratio);  // or by accident, as with sums that wrap
    if (p.ratio != 0 && std::abs(p.ratio - 1) > 0.01 && (p.wrong > 1 || is_multiple))
        return fmt::format(
            "Every wrong value is {:.6g} times the right one: is something added more than once, or not cleared "
            "between calls?",
            p.ratio);
    if (p.unwritten == p.wrong && p.count > few)
        return "Does any thread write there? Which indices do the threads of all blocks compute, and does the launch "
               "give as many threads, in each direction, as the index counts on?";
    if (p.nan == p.wrong)
        return "NaN usually comes from reading past the end of an input, or memory that was never written.";
    return "";
}

Failure from_pattern(const Lab& lab, const Difference& difference, const Array& expected, const Array& actual,
                     const Pattern& p) {
    const std::string name = lab.buffers[difference.buffer].name;
    const std::string here = fmt::format("{}[{}]", name, format_count(p.first));
    const std::string right = element_text(expected, p.first);
    const bool unwritten = p.unwritten == p.wrong;
    std::string message;
    if (unwritten && p.wrong == p.count)
        message = fmt::format("{} is never written: after the call it still holds what it held before.", name);
    else if (unwritten)
        message = fmt::format("{} is never written; it should be {}.", here, right);
    else
        message = fmt::format("{} is {}, expected {}.", here, element_text(actual, p.first), right);
    if (p.count > 1 && !(unwritten && p.wrong == p.count))
        message += fmt::format(" Wrong: {} of {} elements, {}.", format_count(p.wrong), format_count(p.count),
                               which_elements(p));
    const char* cause = unwritten ? cause::never_written : p.nan == p.wrong ? cause::nan : cause::wrong_value;
    return {cause, message, hint_for(p), place_of(lab, difference, expected, actual)};
}

bool reproduces(const Oracle& oracle, const Lab& lab, const Situation& situation, const std::vector<Array>& predicted) {
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        if (lab.buffers[i].role == Role::input) continue;
        Problem mistaken = situation.problem;
        if (compare(oracle, mistaken, i, predicted[i], situation.actual[i])) return false;
    }
    return true;
}

std::vector<Array> right_answers(const Lab& lab, const Problem& problem) {
    std::vector<Array> outputs;
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        outputs.push_back(lab.buffers[i].role == Role::input ? problem.arrays[i] : problem.arrays[i].clone());
    return outputs;
}

/// Describe an access outside scratch. The size of scratch depends only on the student if the lab keeps nothing in it.
std::string outside_scratch(const Lab& lab, const Damage& damage, const std::string& where) {
    if (lab.divides_scratch)
        return fmt::format("The code writes outside scratch, or an array that the lab keeps beside it: {}.", where);
    return fmt::format("The code writes outside scratch, {} ({}_scratch_bytes asks for {}).", where, lab.name,
                       format_plural(damage.count, "byte"));
}

constexpr double most_explaining_s = 20;

/// Return cause, message and hint of the first hypothesis that reproduces the output; nothing if none does.
std::vector<std::string> find_hypothesis(const Lab& lab, const Oracle& oracle, const Situation& situation) {
    for (const Hypothesis& hypothesis : oracle.hypotheses(situation)) {
        std::vector<Array> predicted = right_answers(lab, situation.problem);
        if (hypothesis.predict(predicted) && reproduces(oracle, lab, situation, predicted))
            return {hypothesis.cause, hypothesis.message, hypothesis.hint};
    }
    return {};
}

}  // namespace

std::optional<Difference> compare(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                  const Array& expected, const Array& actual, std::size_t offset) {
    if (!first_difference(expected.data(), actual.data(), expected.bytes())) return std::nullopt;
    Difference difference;
    difference.buffer = buffer;
    for (std::size_t i = 0; i < expected.count(); ++i) {
        if (accepted(oracle, problem, buffer, expected, actual, offset, i)) continue;
        if (difference.wrong++ == 0) difference.first = i;
        difference.last = i;
    }
    if (difference.wrong == 0) return std::nullopt;
    return difference;
}

double value_at(const Array& array, std::size_t index) {
    switch (array.type()) {
        case ElementType::float32:
            return array.as<float>()[index];
        case ElementType::float64:
            return array.as<double>()[index];
        case ElementType::int32:
            return array.as<std::int32_t>()[index];
        case ElementType::uint32:
            return array.as<std::uint32_t>()[index];
        case ElementType::uint8:
            return array.as<std::uint8_t>()[index];
    }
    return 0;
}

std::string element_text(const Array& array, std::size_t index) {
    switch (array.type()) {
        case ElementType::float32:
            return fmt::format("{}", array.as<float>()[index]);
        case ElementType::float64:
            return fmt::format("{}", array.as<double>()[index]);
        default:
            return fmt::format("{:.0f}", value_at(array, index));
    }
}

Place place_of(const Lab& lab, const Difference& difference, const Array& expected, const Array& actual) {
    return {lab.buffers[difference.buffer].name, difference.first, element_text(expected, difference.first),
            element_text(actual, difference.first)};
}

Failure explain_difference(const Lab& lab, const Oracle& oracle, const Situation& situation,
                           const Difference& difference, std::uint32_t poison) {
    const Array& expected = situation.problem.arrays[difference.buffer];
    const Array& actual = situation.actual[difference.buffer];
    const auto explained = compute_apart(most_explaining_s, [&] { return find_hypothesis(lab, oracle, situation); });
    if (explained && explained->size() == 3)
        return {(*explained)[0], (*explained)[1], (*explained)[2], place_of(lab, difference, expected, actual)};
    const auto wrong = wrong_indices(oracle, situation.problem, difference.buffer, expected, actual);
    return from_pattern(lab, difference, expected, actual, find_pattern(expected, actual, wrong, poison));
}

Failure explain_damage(const Lab& lab, const Damage& damage) {
    const bool scratch = damage.buffer == "scratch";  // whose type the stage defines
    const std::string unit = scratch ? "byte" : "element";
    const auto past = damage.index - static_cast<std::int64_t>(damage.count);
    const std::string where =
        damage.index < 0
            ? fmt::format("{} before its first", format_plural(static_cast<std::uint64_t>(-damage.index), unit))
            : fmt::format("{} past its last {}",
                          past == 0 ? std::string("one") : format_count(static_cast<std::uint64_t>(past) + 1), unit);
    const bool input = std::any_of(lab.buffers.begin(), lab.buffers.end(), [&](const BufferSpec& b) {
        return b.name == damage.buffer && b.role == Role::input;
    });
    return {
        cause::out_of_bounds_write,
        scratch ? outside_scratch(lab, damage, where)
                : fmt::format("The code writes outside {}: at index {}, {} (it has {}).{}", damage.buffer, damage.index,
                              where, format_plural(damage.count, unit),
                              input ? " It is an input: nothing should be written there at all." : ""),
        scratch
            ? "Is an index checked before it is written to? scratch has the bytes that the stage's _scratch_bytes() "
              "asks for; `make inspect` names the line."
            : "Threads beyond the end must do nothing: is there an `if (i < n)` around the write? And is the index "
              "itself right, with the length of a row?",
        {}};
}

}  // namespace warplab
