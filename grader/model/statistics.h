#pragma once
#include <span>
#include <vector>

#include "grader/model/report.h"

namespace warplab {

/// Return the middle value (the mean of the two middle ones); NaN for an empty span.
double median(std::span<const double> values);

/// The times of two programs, measured alternately in a pair of processes.
struct Round {
    std::vector<double> a, b;  // their lengths are equal and at least 1
};

/// Return the geometric mean of each round's median paired ratio a[i]/b[i], with its 95% interval from Student's t,
/// because rounds differ by more than their samples show. For a single round, return the median's interval from its
/// samples.
Interval paired_ratio(std::span<const Round> rounds);

/// Return the mean of paired_ratio() with an interval that holds with 99% probability even if it is evaluated up to 16
/// times while rounds are added. `deviation`: the standard deviation of the logarithm of a round's ratio, known from
/// other benchmarks. It is combined with the deviations of these rounds and of their samples, so that a single round
/// also has an interval.
Interval sequential_ratio(std::span<const Round> rounds, double deviation);

/// Return (high - low) / 2 / median.
double half_width(const Interval& interval);

}  // namespace warplab
