#pragma once
// Explains a wrong output in a sentence.

#include <optional>
#include <vector>

#include "grader/judge/lab/oracle.h"
#include "grader/judge/run/buffers.h"
#include "grader/model/report.h"

namespace warplab {

/// The elements of one output that the oracle does not accept.
struct Difference {
    std::size_t buffer = 0;
    std::size_t wrong = 0;            // how many
    std::size_t first = 0, last = 0;  // indices
};

/// Compare one output, whose first element is element `offset` of the buffer; returns nothing if every element is
/// accepted.
std::optional<Difference> compare(const Oracle& oracle, const Problem& problem, std::size_t buffer,
                                  const Array& expected, const Array& actual, std::size_t offset = 0);

double value_at(const Array& array, std::size_t index);

/// Format an element, exactly enough to distinguish it from its neighbours; NaN and infinities by name.
std::string element_text(const Array& array, std::size_t index);

Place place_of(const Lab& lab, const Difference& difference, const Array& expected, const Array& actual);

/// Return the failure for a wrong output: an oracle's hypothesis that reproduces it, else a description of its pattern.
Failure explain_difference(const Lab& lab, const Oracle& oracle, const Situation& situation,
                           const Difference& difference, std::uint32_t poison);

Failure explain_damage(const Lab& lab, const Damage& damage);

}  // namespace warplab
