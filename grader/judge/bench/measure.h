#pragma once
// The 1000-iteration benchmark. The judge sends the runner commands, each for one or more calls. Every timed call reads
// new inputs and writes to a slot that no other call of the same command uses.
// The judge's own clock bounds the runner's times, and randomly chosen output samples are verified afterwards.

#include <filesystem>
#include <functional>
#include <optional>

#include "grader/judge/bench/baseline.h"
#include "grader/judge/bench/pool.h"
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

/// Limits for the number of rounds. Each round uses fresh processes. Both limits are even or 1, because the processes
/// swap their memory after each round.
struct Rounds {
    int min, max;
};

/// Computes a student's points from the ratio to the reference's time and from the reference's seconds for all
/// iterations of the benchmark.
using PointsFor = std::function<double(double ratio, double reference_s)>;

/// The extent of a measurement. The defaults determine the ratio to the reference as precisely as possible.
struct Effort {
    Rounds rounds = {4, 10}, rounds_of_short_calls = {10, 16};
    int samples = 3;                                  // per round
    double sample_s = 1, total_s = 40, verify_s = 8;  // total: for all samples of a dataset
    double round_s = 1.5;   // below this time, another sample costs less than starting another round
    PointsFor points = {};  // if set, only the rounds that the points require are taken, even below Rounds::min
};

struct Measured {
    Measurement measurement;
    std::optional<Failure> failure;  // the timed outputs are wrong, or the code failed during timing
    std::optional<Failure> error;    // an error of the judge, or impossible times
};

/// Time one dataset. `reference` is the stage's solution, timed in alternation; null if there is none. Output samples
/// are verified for `effort.verify_s`: the first on the CPU, if the times in `cpu` permit it, the others against the
/// reference solution's outputs, or on the CPU if that is quick. If an output differs from the reference's, the CPU
/// decides. `inputs` is the result of timing::make_inputs() if that was called earlier.
Measured measure(StageRun& student, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                 const Effort& effort, const Baseline& cpu, const Progress& progress,
                 const std::optional<timing::Inputs>& inputs = {});

namespace timing {

/// Return the median seconds for copying a call's inputs to the device and its outputs back, from and to pageable host
/// memory. The first copies of a process may take several times longer.
double measure_transfer(const StageRun& run, const Problem& call);

}  // namespace timing
}  // namespace warplab
