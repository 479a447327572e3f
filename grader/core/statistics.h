#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "grader/core/report.h"

namespace warplab {

/// Middle value (mean of the two middle ones); NaN for an empty span.
double median(std::span<const double> values);

/// Median of the paired ratios a[i]/b[i] with its bootstrap 95% interval (seeded, so it repeats).
/// The spans have the same length, at least 1.
Interval paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

/// (high - low) / 2 / median
double half_width(const Interval& interval);

}  // namespace warplab
