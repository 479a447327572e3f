#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "grader/core/report.h"

namespace warplab {

/// Middle value (mean of the two middle ones); NaN for an empty span.
double median(std::span<const double> values);

/// Times of two, taken in turns in a pair of processes.
struct Round {
    std::vector<double> a, b;  // of one length, at least 1
};

/// The geometric mean of each round's median paired ratio a[i]/b[i], with its bootstrap 95% interval (seeded, so it
/// repeats). Of an even number of
/// rounds, neighbours are drawn together: what favours one of the two in a round may favour the other in the next.
Interval paired_ratio(std::span<const Round> rounds, std::uint64_t seed = 1);

/// (high - low) / 2 / median
double half_width(const Interval& interval);

}  // namespace warplab
