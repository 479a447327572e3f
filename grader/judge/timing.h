#pragma once
// Times the datasets of a stage whose outputs are correct.

#include "grader/judge/bench/measure.h"
#include "grader/judge/judge.h"
#include "grader/judge/run/phases.h"
#include "grader/judge/settle.h"

namespace warplab {

/// Return the effort for one of `count` datasets. If the task does not ask for precise times, set `points` of the
/// result, so that timing ends when the points are known.
Effort effort_for(const Task& task, bool on_cpu, std::size_t count);

/// Return the function that computes the stage's speed points as if all of its datasets had the same ratio.
/// `sequential_s`: the CPU's seconds for all iterations; `previous_ratio`: the time of the previous stage's solution
/// divided by the reference's, if it was timed.
PointsFor points_for(const Stage& stage, double sequential_s, std::optional<double> previous_ratio);

/// Time `run`, in alternation with the stage's solution if there is one; on the CPU backend, time the same file without
/// the sanitizer's hooks. The results are added to `timed` one by one. Throws std::runtime_error.
void time_stage(Timed& timed, Judge& judge, StageRun& run, const Source& source, const Task& task,
                const Progress& progress);

}  // namespace warplab
