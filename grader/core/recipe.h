#pragma once
// What the generators of all oracles share: a dataset's parameters, and random bits by position, so that any number of
// threads can make any part of an array.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "grader/core/manifest.h"

namespace warplab {

/// Bits that look random: a function of seed, stream (one per array) and index (SplitMix64's mixing).
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    std::uint64_t x = (seed * 0xda942042e4dd58b5ull + stream) * 0xa0761d6478bd642full + index * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

inline UsageError recipe_error(const Dataset& dataset, const std::string& what) {
    return UsageError("dataset \"" + dataset.name + "\": " + what);
}

/// A whole number ≥ 0 of the dataset's parameters. Throws UsageError when it is missing or something else.
inline std::int64_t read_size(const Dataset& dataset, std::string_view name) {
    const auto found = dataset.parameters.find(std::string(name));
    if (found == dataset.parameters.end())
        throw recipe_error(dataset, "the parameter \"" + std::string(name) + "\" is missing");
    if (!found->is_number_integer() || *found < 0)
        throw recipe_error(dataset, "\"" + std::string(name) + "\" is " + found->dump() + ", not a whole number ≥ 0");
    return found->get<std::int64_t>();
}

/// Throws UsageError naming a parameter that the generator does not know.
inline void require_only(const Dataset& dataset, std::initializer_list<std::string_view> names) {
    for (const auto& [key, value] : dataset.parameters.items()) {
        bool known = false;
        for (const std::string_view name : names) known = known || name == key;
        if (!known) throw recipe_error(dataset, "the generator knows no parameter \"" + key + "\"");
    }
}

}  // namespace warplab
