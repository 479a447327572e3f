#pragma once
// Keeps problems and their correct answers while a judge grades several stages, because all stages and the sanitizer
// use the same inputs.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "grader/judge/lab/oracle.h"

namespace warplab {

/// A cache of problems. Several threads may use it at the same time.
class KnownProblems {
  public:
    /// Return the full-size problem that the lab's oracle generates from `dataset` and `seed`. Other problems may share
    /// its inputs, so do not write to them.
    Problem generate(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed);

    /// Run Oracle::reference() for a problem that generate() returned. Other problems may then share its outputs, too.
    void solve(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed, Problem& problem);

  private:
    using Key = std::pair<std::string, std::uint64_t>;  // lab/dataset, seed
    bool reserve(std::size_t bytes);

    std::mutex mutex_;
    std::map<Key, Problem> generated_;
    std::map<Key, std::vector<Array>> outputs_;  // per buffer; inputs are empty
    std::size_t kept_bytes_ = 0;
};

}  // namespace warplab
