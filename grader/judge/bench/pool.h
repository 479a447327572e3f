#pragma once
// Inputs of all timed calls, longer than one call's: each call's begin somewhere else in them.

#include <memory>
#include <vector>

#include "grader/judge/check/check.h"

namespace warplab::timing {

/// The inputs of all calls: on the host for the oracle, on the device for the copies.
struct Pool {
    Problem problem;  // inputs longer than a call's by `extra`
    std::size_t step = 0, extra = 0;
    std::vector<std::unique_ptr<Region>> regions;  // per buffer; null for outputs

    /// The call whose inputs start at the given elements; outputs are left to be filled by the reference.
    Problem call_at(const std::vector<std::size_t>& window, const Lab& lab) const;
    /// A call's sizes, types and counts.
    Problem shape(const Lab& lab) const { return call_at(std::vector<std::size_t>(lab.buffers.size(), 0), lab); }
};

Pool make_pool(const StageRun& run, const Dataset& dataset);

}  // namespace warplab::timing
