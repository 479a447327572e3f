#include "grader/judge/check/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "grader/common/parallel.h"
#include "grader/judge/device/bulk.h"

namespace warplab {
namespace {

bool holds_pattern(const Array& array, std::size_t index, std::uint32_t pattern) {
    const std::size_t width = element_bytes(array.type());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(array.data()) + index * width;
    for (std::size_t i = 0; i < width; ++i)
        if (bytes[i] != static_cast<std::uint8_t>(pattern >> (8 * ((index * width + i) % 4)))) return false;
    return true;
}

/// Return how many times the pattern of uninitialised variables (the CPU backend's compiler sets each byte to 0xFE) was
/// added to a value; 0 if it does not explain the value.
std::uint32_t unset_terms(const Array& expected, const Array& actual, std::size_t index) {
    constexpr std::uint32_t half_unset = 0x7F7F7F7F, its_inverse = 0x1020407F, max_terms = 1 << 20;
    static_assert(half_unset * its_inverse == 1);
    if (actual.type() == ElementType::float32) {
        const double terms = value_at(actual, index) / -1.6947395e38;
        return terms > 0.999 && terms < 2.001 ? static_cast<std::uint32_t>(std::lround(terms)) : 0;
    }
    if (element_bytes(actual.type()) != sizeof(std::uint32_t)) return 0;
    const auto difference = static_cast<std::uint32_t>(static_cast<std::int64_t>(value_at(actual, index)) -
                                                       static_cast<std::int64_t>(value_at(expected, index)));
    const std::uint32_t terms = difference / 2 * its_inverse & 0x7FFFFFFF;
    return difference % 2 == 0 && terms <= max_terms ? terms : 0;
}

/// An output, compared with the right one. The first element of both arrays is element `offset` of the buffer.
struct Comparison {
    const Oracle& oracle;
    const Problem& problem;
    std::size_t buffer;
    const Array &expected, &actual;
    std::size_t offset = 0;
};

template <class T, class Found>
void for_each_wrong_of(const Comparison& c, std::size_t begin, std::size_t end, const Found& found) {
    const T* expected = c.expected.as<T>().data();
    const T* actual = c.actual.as<T>().data();
    for (std::size_t i = begin; i < end; ++i)
        if (std::memcmp(expected + i, actual + i, sizeof(T)) != 0 &&
            !c.oracle.accepts(c.problem, c.buffer, c.offset + i, expected[i], actual[i]))
            found(i);
}

/// Call found(i) for each element i in [begin, end) that the oracle does not accept.
template <class Found>
void for_each_wrong(const Comparison& c, std::size_t begin, std::size_t end, const Found& found) {
    switch (c.expected.type()) {
        case ElementType::float32:
            return for_each_wrong_of<float>(c, begin, end, found);
        case ElementType::float64:
            return for_each_wrong_of<double>(c, begin, end, found);
        case ElementType::int32:
            return for_each_wrong_of<std::int32_t>(c, begin, end, found);
        case ElementType::uint32:
            return for_each_wrong_of<std::uint32_t>(c, begin, end, found);
        case ElementType::uint8:
            return for_each_wrong_of<std::uint8_t>(c, begin, end, found);
    }
}

/// Return the number and the range of the wrong elements in [begin, end).
Difference difference_in(const Comparison& c, std::size_t begin, std::size_t end) {
    Difference difference{.buffer = c.buffer};
    for_each_wrong(c, begin, end, [&](std::size_t i) {
        if (difference.wrong++ == 0) difference.first = i;
        difference.last = i;
    });
    return difference;
}

std::vector<std::size_t> wrong_indices(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                       const Array& expected, const Array& actual) {
    std::vector<std::size_t> indices;
    for_each_wrong({oracle, problem, buffer, expected, actual}, 0, expected.count(),
                   [&](std::size_t i) { indices.push_back(i); });
    return indices;
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
        if (wrong.size() > 8 && std::ranges::all_of(wrong, matches)) return shift;
    }
    return 0;
}

}  // namespace

std::optional<Difference> compare(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                  const Array& expected, const Array& actual, std::size_t offset) {
    if (!first_difference(expected.data(), actual.data(), expected.bytes())) return std::nullopt;
    constexpr std::size_t part = 4 << 20;  // elements per task: if all differ by rounding, the oracle examines each
    const Comparison comparison{oracle, problem, buffer, expected, actual, offset};
    std::vector<Difference> parts((expected.count() + part - 1) / part);
    for_each_index(parts.size(), count_cores(), [&](std::size_t k) {
        parts[k] = difference_in(comparison, k * part, std::min(expected.count(), (k + 1) * part));
    });
    Difference difference{.buffer = buffer};
    for (const Difference& one : parts) {
        if (one.wrong == 0) continue;
        if (difference.wrong == 0) difference.first = one.first;
        difference.wrong += one.wrong;
        difference.last = one.last;
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

std::size_t Pattern::partial_block() const {
    if (!contiguous || last + 1 != count || first == 0) return 0;
    for (std::size_t block : {1024, 512, 256, 128, 64, 32, 16, 8, 4})
        if (first % block == 0 && count - first < block) return block;
    return 0;
}

bool Pattern::counts_bytes() const {
    return element_bytes > 1 && count > few_elements && contiguous && last + 1 == count &&
           first == count / element_bytes;
}

bool Pattern::differs_by_rounding() const {
    return wrong > few_elements && wrong * 2 > count && largest_error > 0 && largest_error < 2e-6;
}

Pattern find_pattern(const Oracle& oracle, const Problem& problem, std::size_t buffer, const Array& expected,
                     const Array& actual, std::uint32_t poison) {
    const std::vector<std::size_t> wrong = wrong_indices(oracle, problem, buffer, expected, actual);
    Pattern pattern;
    pattern.count = expected.count();
    pattern.element_bytes = element_bytes(expected.type());
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
    const bool is_regular =
        pattern.step > 1 && wrong.size() > 4 && (pattern.last - pattern.first) / pattern.step + 1 == wrong.size();
    if (!is_regular) pattern.step = 0;
    pattern.unset_terms = unset_terms(expected, actual, pattern.first);
    pattern.ratio = common_ratio(expected, actual, wrong);
    pattern.largest_error = largest_error(expected, actual);
    pattern.shift = common_shift(expected, actual, wrong);
    return pattern;
}

}  // namespace warplab
