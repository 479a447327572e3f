#pragma once
// An overview of the stage's datasets, for `warplab watch`.

#include <string>

#include "grader/common/text.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Return a row (several, if the terminal is narrow) of the datasets: a tick if it passed, a cross if it did not, a
/// dash if it did not run; and its sizes: "✓ one n=1".
std::string render_board(const StageReport& stage, const Lab& lab, const TextStyle& style);

}  // namespace warplab
