#pragma once
// Times the datasets of a stage whose outputs are correct.

#include "grader/judge/judge.h"
#include "grader/judge/run/phases.h"
#include "grader/judge/settle.h"

namespace warplab {

/// Time `run`, in alternation with the stage's solution if there is one; on the CPU backend, time the same file without
/// the sanitizer's hooks. The results are added to `timed` one by one. Throws std::runtime_error.
void time_stage(Timed& timed, Judge& judge, StageRun& run, const Source& source, const Task& task,
                const Progress& progress);

}  // namespace warplab
