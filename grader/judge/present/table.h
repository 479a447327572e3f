#pragma once
#include <span>
#include <string>

#include "grader/common/text.h"
#include "grader/model/report.h"

namespace warplab {

/// Return a table of all stages for the end of a demo or of grading, with a heading for each report: verdict, points,
/// seconds for 1000 iterations, speedups, share of the bound, and what limits the stage or why it did not pass. Fits 80
/// columns.
std::string render_table(std::span<const Report> reports, const TextStyle& style);

}  // namespace warplab
