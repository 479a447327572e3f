#pragma once
// Prints the modelled times of stages, for a machine without a GPU.

#include "grader/judge/judge.h"
#include "grader/judge/options.h"
#include "grader/judge/predict/machine.h"

namespace warplab {

/// Return the GPU whose time is modelled. Throws UsageError if the model does not know the one that was asked for.
predict::Machine modelled_gpu(const Options& options);

/// Print the modelled time of each passed stage, beside that of the reference solution where it is there.
void print_modelled_times(Judge& judge, const Lab& lab, const Report& report, const Options& options,
                          const predict::Machine& machine);

}  // namespace warplab
