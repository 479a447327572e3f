#pragma once
// Whether what was seen of timed outputs is right.

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/judge/bench/contestant.h"

namespace warplab::timing {

/// Stands in for the CPU: the reference solution, in its own process, and what a call takes on the CPU.
struct Substitute {
    Contestant* reference = nullptr;
    double cpu_s = 0;
};

/// Checks sightings in random order until the time is up, at least one of every sample.
std::optional<Failure> verify(const StageRun& run, const Pool& pool, std::vector<Sighting>& sightings, double budget_s,
                              const Substitute& substitute, std::uint64_t seed);

}  // namespace warplab::timing
