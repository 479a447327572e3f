#pragma once
// Verifies output samples of timed calls.

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/judge/bench/subject.h"

namespace warplab::timing {

/// A substitute for the CPU: the reference solution in its own process, and the times of a call on the CPU.
struct Substitute {
    Subject* reference = nullptr;
    double cpu_s = 0;   // on all cores
    double core_s = 0;  // on one core
};

/// Check output samples in random order, at least one of each timed sample, until `budget_s` seconds are used: of all
/// cores' time if each core checks a different output sample, of wall time if all cores compute one answer together.
std::optional<Failure> verify(const StageRun& run, const Pool& pool, std::vector<OutputSample>& output_samples,
                              double budget_s, const Substitute& substitute, std::uint64_t seed);

}  // namespace warplab::timing
