#pragma once
// Explains a wrong output in a sentence.

#include <string>

#include "grader/judge/check/pattern.h"
#include "grader/judge/lab/oracle.h"
#include "grader/judge/run/buffers.h"
#include "grader/model/report.h"

namespace warplab {

/// Format an element, exactly enough to distinguish it from its neighbours; NaN and infinities by name.
std::string element_text(const Array& array, std::size_t index);

Place place_of(const Lab& lab, const Difference& difference, const Array& expected, const Array& actual);

/// Return the failure for a wrong output: an oracle's hypothesis that reproduces it, if one is found within `max_s`
/// seconds; otherwise, a description of the wrong elements' pattern.
Failure explain_difference(const Lab& lab, const Oracle& oracle, const Situation& situation,
                           const Difference& difference, std::uint32_t poison, double max_s);

/// Return whether the values alone show the mistake: they are rounded, truncated to whole numbers, or 0. Calls with
/// other inputs would not show more.
bool values_show_mistake(const Oracle& oracle, const Situation& situation, const Difference& difference,
                         std::uint32_t poison);

Failure explain_guard_violation(const Lab& lab, const GuardViolation& violation);

}  // namespace warplab
