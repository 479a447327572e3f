#pragma once
// An overview of a stage's datasets, for `warplab watch`.

#include <string>

#include "grader/common/text.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Return a row, or several rows if the terminal is narrow, with a mark, the name and the sizes of each dataset:
/// "✓ one n=1". The mark is a tick if the dataset passed, a cross if it failed, and a dash if it did not run.
std::string render_board(const StageReport& stage, const Lab& lab, const TextStyle& style);

}  // namespace warplab
