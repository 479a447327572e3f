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

/// Return the medians of at least five runs, or of as many as three seconds allow: sequential_s is processor time,
/// openmp_s is wall time. The result is stored in the file `cache` under the lab, the dataset and `key`. `known`: the
/// dataset's problem, or null to generate it.
Baseline measure_baseline(const Oracle& oracle, const Lab& lab, const Dataset& dataset, const Problem* known,
                          const std::filesystem::path& cache, const std::string& key);

}  // namespace warplab
