#pragma once
// Shared by the generators of all oracles: a dataset's parameters, and random bits that depend only on their position,
// so that threads can generate any part of an array independently.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/model/manifest.h"

namespace warplab {

/// SplitMix64's finalizer. It is a bijection whose inverse is easy to compute.
inline std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/// Return pseudo-random bits: a function of seed, stream (one per array) and index. Hidden seeds have 64 bits; a
/// hash of such a seed is added at the end, so that known elements of a hidden dataset reveal neither its seed nor
/// other elements.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    const std::uint64_t whitening = seed >> 32 ? mix_bits(seed ^ 0xd6e8feb86659fd93ull) : 0;
    const std::uint64_t position =
        (seed * 0xda942042e4dd58b5ull + stream) * 0xa0761d6478bd642full + index * 0x9e3779b97f4a7c15ull;
    return mix_bits(position) + whitening;
}

/// Return the error for invalid parameters, with the file and the dataset's name.
ManifestError recipe_error(const Dataset& dataset, const std::string& what);

/// Return the error of find_generator(), with the available names.
ManifestError unknown_generator(const Dataset& dataset, std::vector<std::string> names);

/// Return the dataset's generator from those that an oracle knows by name; `others` names the oracle's other
/// generators. Throws ManifestError with all names if no generator has the name that the dataset gives.
template <class Generator>
const Generator& find_generator(const Dataset& dataset, const std::map<std::string, Generator>& generators,
                                std::vector<std::string> others = {}) {
    if (const auto iterator = generators.find(dataset.generator); iterator != generators.end()) return iterator->second;
    for (const auto& [name, unused] : generators) others.push_back(name);
    throw unknown_generator(dataset, std::move(others));
}

/// Return the parameters as text: "n = 1000, filter = \"any\""
std::string format_parameters(const Parameters& parameters);

// Return a parameter by name. Throws ManifestError if the value has another type or, without a default value, if it is
// missing.
std::int64_t read_size(const Dataset& dataset, std::string_view name,
                       std::optional<std::int64_t> fallback = {});  // ≥ 0
double read_number(const Dataset& dataset, std::string_view name, std::optional<double> fallback = {});
std::string read_word(const Dataset& dataset, std::string_view name, std::optional<std::string> fallback = {});

/// Require that the generator knows all parameters. Throws ManifestError with the name of an unknown one.
void require_only(const Dataset& dataset, std::initializer_list<std::string_view> names);

}  // namespace warplab
