#pragma once
// Measures the CPU baseline of a dataset.

#include <filesystem>
#include <string>

#include "grader/judge/lab/oracle.h"

namespace warplab {

/// Seconds of one iteration of the oracle's reference.
struct Baseline {
    double sequential_s = 0, openmp_s = 0;
    int threads = 1;
};

/// Return the median of at least 5 runs within 3 s: sequential_s is processor time, openmp_s is wall time. The result
/// is stored in `cache` under a key of machine, compiler and dataset. `known`: the dataset's problem, or null to
/// generate it.
Baseline measure_baseline(const Oracle& oracle, const Lab& lab, const Dataset& dataset, const Problem* known,
                          const std::filesystem::path& cache, const std::string& key);

}  // namespace warplab
