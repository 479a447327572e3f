#include "grader/judge/check/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "grader/judge/device/bulk.h"

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

bool accepted(const Oracle& oracle, const Problem& problem, std::size_t buffer, const Array& expected,
              const Array& actual, std::size_t offset, std::size_t i) {
    return same_bytes(expected, actual, i) ||
           oracle.accepts(problem, buffer, offset + i, value_at(expected, i), value_at(actual, i));
}

std::vector<std::size_t> wrong_indices(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                       const Array& expected, const Array& actual) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < expected.count(); ++i)
        if (!accepted(oracle, problem, buffer, expected, actual, 0, i)) indices.push_back(i);
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

bool Pattern::has_rounded() const {
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
    const bool every =
        pattern.step > 1 && wrong.size() > 4 && (pattern.last - pattern.first) / pattern.step + 1 == wrong.size();
    if (!every) pattern.step = 0;
    pattern.unset_terms = unset_terms(expected, actual, pattern.first);
    pattern.ratio = common_ratio(expected, actual, wrong);
    pattern.largest_error = largest_error(expected, actual);
    pattern.shift = common_shift(expected, actual, wrong);
    return pattern;
}

}  // namespace warplab
