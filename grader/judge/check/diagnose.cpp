#include "grader/judge/check/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/common/text.h"
#include "grader/judge/sandbox/in_child.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

/// Return "all of them", "all from index 999,936 to the end", …
std::string which_elements(const Pattern& p) {
    if (p.wrong == p.count) return p.count == 1 ? "it is the only one" : "all of them";
    if (p.wrong == 1) return "only that one";
    if (p.contiguous && p.last + 1 == p.count)
        return fmt::format("all from index {} to the end", format_count(p.first));
    if (p.contiguous && p.first == 0) return fmt::format("the first {}", format_count(p.wrong));
    if (p.contiguous) return fmt::format("indices {} to {}", format_count(p.first), format_count(p.last));
    if (p.step) return fmt::format("every {}th from index {}", p.step, p.first);
    return fmt::format("scattered between {} and {}", format_count(p.first), format_count(p.last));
}

std::string unset_factor(const Pattern& p) { return p.unset_terms == 1 ? "" : format_count(p.unset_terms) + " times "; }

std::string hint_for(const Pattern& p) {
    if (p.counts_bytes())
        return fmt::format(
            "Exactly one element in {} is right: cudaMemcpy, cudaMalloc and cudaMemset count bytes, and an element has "
            "{} bytes. Is the size n * sizeof(…) everywhere?",
            p.element_bytes, p.element_bytes);
    if (p.unset == p.wrong)
        return fmt::format(
            "Wrong by {}0xFEFEFEFE, which is what a local variable holds here until it is set (on a GPU, anything). "
            "Is a sum, or an array of counters, added to before it is set to 0?",
            unset_factor(p));
    if (const std::size_t block = p.partial_block())
        return fmt::format(
            "{} = {} x {}: only the last, partial group of {} is wrong. Is the number of blocks (or vectors) rounded "
            "up, and the tail handled?",
            format_count(p.first), p.first / block, block, block);
    if (p.differs_by_rounding())
        return fmt::format(
            "All values are nearly right, to {:.0f} digits, as if an intermediate value were a float, which "
            "holds 7. Is a variable, a constant or a function for float (0.5f, fabsf) used where the contract has "
            "double?",
            std::floor(-std::log10(p.largest_error)));
    if (p.contiguous && p.first > 0 && p.last + 1 == p.count && p.unwritten == p.wrong && p.count > few_elements)
        return "The grid seems too small for the data: does it cover n, or does each thread continue in a loop with a "
               "stride?";
    if (p.unwritten == p.count) return "Is the kernel launched at all, and does it write to this output?";
    if (p.step) return fmt::format("One in {} is wrong: look at what depends on the index modulo {}.", p.step, p.step);
    if (p.shift)
        return fmt::format("Each value belongs to a neighbouring element: is the index too {} by one?",
                           p.shift > 0 ? "large" : "small");
    // The ratio of a single element may be accidental, for example if sums wrap.
    const bool is_multiple = p.ratio >= 2 && p.ratio == std::round(p.ratio);
    if (p.ratio != 0 && std::abs(p.ratio - 1) > 0.01 && (p.wrong > 1 || is_multiple))
        return fmt::format(
            "Every wrong value is {:.6g} times the right one: is something added more than once, or not cleared "
            "between calls?",
            p.ratio);
    if (p.unwritten == p.wrong && p.count > few_elements)
        return "Does any thread write there? Which indices do the threads of all blocks compute, and does the launch "
               "start as many threads, in each direction, as the index assumes?";
    if (p.nan == p.wrong)
        return "NaN usually comes from reading past the end of an input, or memory that was never written.";
    return fmt::format(
        "Which thread computes {}? Let that thread alone print its index and the values that it uses, "
        "and compare them with those that you expect: DATASET=NAME checks one dataset, and shows what "
        "your code prints.",
        p.count == 1 ? "it" : "the first wrong element");
}

bool is_real(const Array& array) {
    return array.type() == ElementType::float32 || array.type() == ElementType::float64;
}

/// Return whether all values are whole numbers, and most of the right ones are not.
bool are_cut_off(const Array& expected, const Array& actual) {
    if (!is_real(actual) || actual.count() < few_elements) return false;
    std::size_t right = 0;
    for (std::size_t i = 0; i < actual.count(); ++i) {
        if (std::trunc(value_at(actual, i)) != value_at(actual, i)) return false;
        right += std::trunc(value_at(expected, i)) == value_at(expected, i);
    }
    return right * 2 < actual.count();
}

/// Return whether several elements are 0 instead of their values, and all others are right.
bool are_missing(const Array& expected, const Array& actual, const Pattern& p) {
    for (std::size_t i = p.first; i <= p.last; ++i)
        if (value_at(actual, i) != value_at(expected, i) && value_at(actual, i) != 0) return false;
    return p.wrong > 1;
}

std::string hint_for_values(const Array& expected, const Array& actual, const Pattern& p) {
    if (are_cut_off(expected, actual))
        return "All values are whole numbers: is the result, or a value that it is computed from, stored in an int?";
    if (are_missing(expected, actual, p))
        return "All wrong elements are 0: does every result that is computed reach the output? Look for a step that "
               "adds or copies results, and for one that sets elements to 0 too late.";
    if (p.step == 4 && p.first < 4)
        return fmt::format(
            "If vectors of four are used, component {} of each is wrong: x, y, z and w each need their "
            "own values.",
            "xyzw"[p.first]);
    return hint_for(p);
}

Failure from_pattern(const Lab& lab, const Difference& difference, const Array& expected, const Array& actual,
                     const Pattern& p) {
    const std::string name = lab.buffers[difference.buffer].name;
    const std::string element = fmt::format("{}[{}]", name, format_count(p.first));
    const std::string right = element_text(expected, p.first);
    const bool unwritten = p.unwritten == p.wrong;
    std::string message;
    if (unwritten && p.wrong == p.count)
        message = fmt::format("{} is never written: after the call, it has the same value as before.", name);
    else if (unwritten)
        message = fmt::format("{} is never written; it should be {}.", element, right);
    else
        message = fmt::format("{} is {}, expected {}.", element, element_text(actual, p.first), right);
    if (p.count > 1 && !(unwritten && p.wrong == p.count))
        message += fmt::format(" Wrong: {} of {} elements, {}.", format_count(p.wrong), format_count(p.count),
                               which_elements(p));
    if (p.unset == p.wrong)
        message += fmt::format(" {} {}0xFEFEFEFE, which a local variable holds on the CPU backend until it is set.",
                               p.wrong == 1 ? "It contains" : "Each of them contains", unset_factor(p));
    const char* cause = p.unset == p.wrong ? cause::uninitialised
                        : p.counts_bytes() ? cause::bytes_not_elements
                        : unwritten        ? cause::never_written
                        : p.nan == p.wrong ? cause::nan
                                           : cause::wrong_value;
    const bool plain = cause == std::string_view(cause::wrong_value);
    if (plain && are_cut_off(expected, actual)) message += " All values are whole numbers.";
    return {cause, message, plain ? hint_for_values(expected, actual, p) : hint_for(p),
            place_of(lab, difference, expected, actual)};
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

/// Describe an access outside scratch. If the lab keeps nothing in scratch, only the student's code determines the size
/// of scratch.
std::string outside_scratch(const Lab& lab, const GuardViolation& violation, const std::string& where) {
    if (lab.divides_scratch)
        return fmt::format("The code writes outside scratch, or an array that the lab stores next to it: {}.", where);
    return fmt::format("The code writes outside scratch, {} ({}_scratch_bytes asks for {}).", where, lab.name,
                       format_plural(violation.count, "byte"));
}

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
                           const Difference& difference, std::uint32_t poison, double max_s) {
    const Array& expected = situation.problem.arrays[difference.buffer];
    const Array& actual = situation.actual[difference.buffer];
    std::optional<std::vector<std::string>> explained;
    if (max_s > 0) explained = compute_in_child(max_s, [&] { return find_hypothesis(lab, oracle, situation); });
    if (explained && explained->size() == 3)
        return {(*explained)[0], (*explained)[1], (*explained)[2], place_of(lab, difference, expected, actual)};
    return from_pattern(lab, difference, expected, actual,
                        find_pattern(oracle, situation.problem, difference.buffer, expected, actual, poison));
}

bool values_show_mistake(const Oracle& oracle, const Situation& situation, const Difference& difference,
                         std::uint32_t poison) {
    const Array& expected = situation.problem.arrays[difference.buffer];
    const Array& actual = situation.actual[difference.buffer];
    const Pattern p = find_pattern(oracle, situation.problem, difference.buffer, expected, actual, poison);
    return p.differs_by_rounding() || are_cut_off(expected, actual) || are_missing(expected, actual, p);
}

Failure explain_guard_violation(const Lab& lab, const GuardViolation& violation) {
    const bool scratch = violation.buffer == "scratch";  // the judge knows only its bytes, not the type of its elements
    const std::string unit = scratch ? "byte" : "element";
    const auto past = violation.index - static_cast<std::int64_t>(violation.count);
    const std::string place =
        violation.index < 0
            ? fmt::format("{} before its first", format_plural(static_cast<std::uint64_t>(-violation.index), unit))
            : fmt::format("{} past its last {}",
                          past == 0 ? std::string("one") : format_count(static_cast<std::uint64_t>(past) + 1), unit);
    const bool input = std::ranges::any_of(
        lab.buffers, [&](const BufferSpec& b) { return b.name == violation.buffer && b.role == Role::input; });
    return {
        cause::out_of_bounds_write,
        scratch ? outside_scratch(lab, violation, place)
                : fmt::format("The code writes outside {}: at index {}, {} (it has {}).{}", violation.buffer,
                              violation.index, place, format_plural(violation.count, unit),
                              input ? " It is an input, which must not be written." : ""),
        scratch
            ? "Is an index checked before it is written to? scratch has the bytes that the stage's _scratch_bytes() "
              "asks for; `make inspect` names the line."
            : "Threads beyond the end must do nothing: is there an `if (i < n)` around the write? And is the index "
              "itself right, with the length of a row?"};
}

}  // namespace warplab
