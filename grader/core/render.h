#pragma once
// A report as a person reads it in a terminal. Everything is printed from the report; nothing is computed anew.

#include <span>
#include <string>

#include "grader/core/report.h"
#include "grader/core/text.h"

namespace warplab {

/// One line: the lab, whose files, backend and sandbox. Every printout begins with it.
std::string render_heading(const Report& report, const TextStyle& style);

/// What a student reads about one stage: verdict, the first failure in full, other failures in short, the compiler's
/// words, timing and points; with `output` also what the student's code printed.
std::string render_stage(const StageReport& stage, const TextStyle& style, bool output = false);

/// The heading, every stage and, where points were given, their sum.
std::string render_report(const Report& report, const TextStyle& style, bool output = false);

/// A table of all stages for the end: verdict, points, seconds for 1000 iterations, speedups, what limits it.
std::string render_table(std::span<const Report> reports, const TextStyle& style);

}  // namespace warplab
