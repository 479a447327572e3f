#pragma once
// Correct answers, kept while one judge grades several stages: the CPU takes seconds for some of them.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "grader/judge/lab/oracle.h"

namespace warplab {

class KnownOutputs {
  public:
    /// Run Oracle::reference() for a full-size problem that the lab's oracle generated from `dataset` and `seed`.
    void solve(const Oracle& oracle, const Lab& lab, const Dataset& dataset, std::uint64_t seed, Problem& problem);

  private:
    using Key = std::pair<std::string, std::uint64_t>;  // lab/dataset, seed
    std::map<Key, std::vector<Array>> kept_;            // per buffer; inputs are empty
    std::size_t kept_bytes_ = 0;
};

}  // namespace warplab
