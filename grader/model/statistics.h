#pragma once
#include <span>
#include <vector>

#include "grader/model/report.h"

namespace warplab {

/// Middle value (mean of the two middle ones); NaN for an empty span.
double median(std::span<const double> values);

/// Times of two, taken in turns in a pair of processes.
struct Round {
    std::vector<double> a, b;  // of one length, at least 1
};

/// The geometric mean of each round's median paired ratio a[i]/b[i], with its 95% interval by Student's t: rounds
/// differ by more than their samples say. Of one round alone, the median's interval by its samples.
Interval paired_ratio(std::span<const Round> rounds);

/// (high - low) / 2 / median
double half_width(const Interval& interval);

}  // namespace warplab
