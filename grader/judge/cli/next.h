#pragma once
// Suggests the next command.

#include <string>

#include "grader/judge/cli/work.h"
#include "grader/judge/options.h"
#include "grader/model/report.h"

namespace warplab {

/// Return the next step for a stage, such as "make bench LAB=vector_add STAGE=02"; empty if the stage is done.
std::string next_step(const Lab& lab, const Stage& stage, Standing standing, const Folders& folders);

/// Return the line that ends a check or a benchmark of the student's own files: "Next: …". Empty for other files.
/// If the files are `watched`, saving one checks it.
std::string next_after(const Report& report, const Lab& lab, const Options& options, bool watched = false);

}  // namespace warplab
