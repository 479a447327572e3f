#pragma once
// Finds by experiments how often each element is in a sum or a histogram: in each call, all elements except a few
// are neutral.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/lab/explain.h"

namespace warplab {

/// Consecutive elements that are all used the same number of times.
struct ElementRun {
    std::size_t begin = 0, end = 0;
    std::uint64_t times = 0;

    bool operator==(const ElementRun&) const = default;
};

/// The experiments of a lab. Each returns nothing if no time is left, or if its output has another explanation.
struct Census {
    std::size_t n = 0;  // elements
    /// Return how often an element is used.
    std::function<std::optional<std::uint64_t>(std::size_t i)> times;
    /// Return whether each of these elements is used this often.
    std::function<std::optional<bool>(const ElementRun& elements)> is_right;
};

/// Return how often the elements are used, from the first on, up to `max_runs` runs.
std::vector<ElementRun> take_census(const Census& census, std::size_t max_runs);

/// Return a sentence such as "Product 0 is in the sum twice, products 1 to 255 once, product 256 twice."; empty if
/// all elements are used once. `element` is the singular of nouns.elements.
std::string describe_census(const std::vector<ElementRun>& runs, std::size_t n, const std::string& element,
                            const Nouns& nouns);

/// A lab that counts values. In its experiments, all elements except a few have the value 0.
struct Histogram {
    std::size_t n = 0;         // elements
    std::uint32_t cap = ~0u;   // counts are exact below it
    std::uint32_t values = 0;  // elements are from 0 to values - 1
    std::size_t output = 1;    // the buffer of the bins
    std::string element;       // "pixel"
    /// Write the value of an element.
    std::function<void(Problem& problem, std::size_t i, std::uint32_t value)> set;
    /// Return the bin of an element with this value.
    std::function<std::size_t(std::size_t i, std::uint32_t value)> bin;
    std::function<std::string(std::size_t bin)> name;  // "bin 17"
};

/// Return what experiments with a histogram show, as Oracle::investigate does.
std::string investigate_counts(const Histogram& histogram, const Nouns& nouns, const Problem& problem,
                               const Experiment& call);

}  // namespace warplab
