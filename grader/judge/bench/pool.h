#pragma once
// The inputs of all timed calls. The pool is longer than one call's inputs, and each call reads from a different
// offset.

#include <memory>
#include <vector>

#include "grader/judge/check/check.h"

namespace warplab::timing {

/// The inputs of all calls: on the host for the oracle, on the device for the copies.
struct Pool {
    Problem problem;  // inputs longer than a call's by `extra`
    std::size_t step = 0, extra = 0;
    std::vector<std::unique_ptr<Region>> regions;  // per buffer; null for outputs

    /// Return the call whose inputs start at the given elements; the reference fills the outputs later.
    Problem call_at(const std::vector<std::size_t>& window, const Lab& lab) const;
    /// Return the sizes, types and counts of a call.
    Problem shape(const Lab& lab) const { return call_at(std::vector<std::size_t>(lab.buffers.size(), 0), lab); }
};

/// Generate the inputs of a pool, on the host.
Problem make_inputs(const StageRun& run, const Dataset& dataset);

/// Copy the inputs to the device.
Pool make_pool(const StageRun& run, Problem inputs);

}  // namespace warplab::timing
