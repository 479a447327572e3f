#pragma once
// The inputs of all timed calls. The pool is longer than one call's inputs, and each call reads from a different
// offset.

#include <memory>
#include <random>
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

/// The inputs of a dataset's timed calls, on the host.
struct Inputs {
    Problem pool;
    std::vector<Problem> fresh;  // calls on inputs that are not in the pool
};

/// Generate `count` calls whose inputs are not in a pool.
std::vector<Problem> make_fresh_calls(const StageRun& run, const Dataset& dataset, std::size_t count,
                                      std::mt19937_64& random);

/// Generate the inputs of a pool and of `fresh` other calls.
Inputs make_inputs(const StageRun& run, const Dataset& dataset, std::size_t fresh = 0);

/// Return the sizes, types and counts of a call, from the inputs of a pool.
Problem shape_of_call(const StageRun& run, const Problem& inputs);

/// Copy the inputs to the device.
Pool make_pool(const StageRun& run, Problem inputs);

}  // namespace warplab::timing
