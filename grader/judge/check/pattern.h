#pragma once
// Compares an output with the oracle's, and finds what its wrong elements have in common.

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/judge/lab/oracle.h"

namespace warplab {

/// The elements of one output that the oracle does not accept.
struct Difference {
    std::size_t buffer = 0;
    std::size_t wrong = 0;            // their number
    std::size_t first = 0, last = 0;  // their smallest and largest index
};

/// Compare one output, whose first element is element `offset` of the buffer. Return nothing if the oracle accepts
/// every element.
std::optional<Difference> compare(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                  const Array& expected, const Array& actual, std::size_t offset = 0);

double value_at(const Array& array, std::size_t index);

/// Properties that the wrong elements of one output have in common.
struct Pattern {
    std::size_t count = 0, wrong = 0, first = 0, last = 0;
    std::size_t element_bytes = 1;
    std::size_t unwritten = 0, nan = 0;  // wrong elements that still hold the poison, or are not a number
    std::size_t unset = 0;               // wrong elements that contain uninitialised variables
    std::uint32_t unset_terms = 0;       // the number of uninitialised variables in the first wrong element
    std::size_t step = 0;                // > 1: all wrong indices are first + k * step, and there are many
    bool contiguous = false;
    double ratio = 0;          // actual / expected if it is the same for all wrong elements, else 0
    double largest_error = 0;  // for doubles, relative to the largest correct value; else 0
    std::int64_t shift = 0;    // actual[i] == expected[i + shift] for all wrong elements, else 0

    /// Return a block size for which the wrong tail is the last, partial block; 0 if there is none.
    std::size_t partial_block() const;
    /// Return whether exactly the first n bytes are right, where n is the number of elements.
    bool counts_bytes() const;
    /// Return whether all of many doubles are nearly correct. An omitted or wrong term would affect some more than
    /// others.
    bool differs_by_rounding() const;
};

/// In an output with fewer elements, the positions of the wrong elements show no pattern.
inline constexpr std::size_t few_elements = 32;

/// Describe the wrong elements of a whole output; there must be at least one. `poison` fills outputs before a call.
Pattern find_pattern(const Oracle& oracle, const Problem& problem, std::size_t buffer, const Array& expected,
                     const Array& actual, std::uint32_t poison);

}  // namespace warplab
