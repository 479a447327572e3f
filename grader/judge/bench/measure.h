#pragma once
// The 1000-iteration benchmark. Every timed call works on inputs it has not seen, in a slot used once a command; the
// judge's own clock bounds what the runner says, and outputs drawn at random are checked afterwards.

#include <filesystem>
#include <functional>
#include <optional>

#include "grader/judge/bench/baseline.h"
#include "grader/judge/check/check.h"
#include "grader/model/report.h"

namespace warplab {

/// What this device moves, measured once per process.
struct Bandwidth {
    double copy_bytes_per_s = 0;  // read plus written
    double read_bytes_per_s = 0;
    double l2_bytes_per_s = 0;  // reads of a set that fits in half of the L2
    std::size_t l2_bytes = 0;
};

/// How much to measure. The defaults are the benchmark's; the CPU backend's forced timing takes less.
/// How many rounds, each in fresh processes; even numbers, as they exchange their memory from one to the next.
struct Rounds {
    int fewest, most;
};

struct Effort {
    Rounds rounds = {4, 10}, of_short_calls = {10, 16};
    int samples = 3;                                  // a round
    double sample_s = 1, total_s = 40, verify_s = 8;  // total: of all samples of a stage
};

struct Measured {
    Measurement measurement;
    std::optional<Failure> failure;  // the timed outputs are wrong, or the code failed while timed
    std::optional<Failure> error;    // our side, or times that cannot be
};

using Progress = std::function<void(const std::string& what)>;

/// Times one dataset. `reference` is the same stage's solution, timed alongside; null where there is none. `cpu`
/// says whether the CPU can check what was seen of the outputs in `effort.verify_s`; else the reference solution does,
/// and the CPU only where they differ.
Measured measure(StageRun& student, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                 const Effort& effort, const Baseline& cpu, const Progress& progress);

}  // namespace warplab
