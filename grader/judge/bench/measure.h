#pragma once
// The 1000-iteration benchmark. Every timed call works on new inputs, in a slot used once per command. The judge's own
// clock bounds the runner's times, and output samples chosen at random are verified afterwards.

#include <filesystem>
#include <functional>
#include <optional>

#include "grader/judge/bench/baseline.h"
#include "grader/judge/check/check.h"
#include "grader/judge/run/phases.h"
#include "grader/model/report.h"

namespace warplab {

/// The device's memory bandwidth, measured once per machine.
struct Bandwidth {
    double copy_bytes_per_s = 0;  // read plus written
    double read_bytes_per_s = 0;
    double l2_bytes_per_s = 0;  // reads of a working set that fits in half of the L2
    std::size_t l2_bytes = 0;
};

/// The number of rounds, each in fresh processes; even, because the processes swap their memory from one round to the
/// next.
struct Rounds {
    int fewest, most;
};

/// The points for a student's time, from its ratio to the reference's and from the reference's seconds for all
/// iterations of the benchmark.
using PointsFor = std::function<double(double ratio, double reference_s)>;

/// The extent of a measurement. The defaults determine the ratio to the reference as precisely as possible.
struct Effort {
    Rounds rounds = {4, 10}, of_short_calls = {10, 16};
    int samples = 3;                                  // per round
    double sample_s = 1, total_s = 40, verify_s = 8;  // total: for all samples of a stage
    double round_s = 1.5;   // up to this time, more samples of a round cost less than the processes of another round
    PointsFor points = {};  // if set, no more rounds are taken than the points require, not even Rounds::fewest
};

struct Measured {
    Measurement measurement;
    std::optional<Failure> failure;  // the timed outputs are wrong, or the code failed during timing
    std::optional<Failure> error;    // an error of the judge, or impossible times
};

/// Time one dataset. `reference` is the same stage's solution, timed in alternation; null if there is none. Output
/// samples are verified for `effort.verify_s`: the first one on the CPU, if it has the time according to `cpu`, and the
/// others by comparison with the reference solution's outputs, unless the CPU takes little time. If these differ, the
/// CPU decides. `inputs` are the result of timing::make_inputs() if it was called before, without the GPU.
Measured measure(StageRun& student, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                 const Effort& effort, const Baseline& cpu, const Progress& progress,
                 const std::optional<Problem>& inputs = {});

}  // namespace warplab
