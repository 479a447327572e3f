#pragma once
// Renders a report for a terminal, without computing anything again.

#include <string>

#include "grader/common/text.h"
#include "grader/model/report.h"

namespace warplab {

Colour colour_of(Verdict verdict);

/// Return the remark on the sandbox, as a line to print; empty if the report has none.
std::string render_sandbox_remark(const Report& report, const TextStyle& style);

/// Return the heading with which every printout begins: the lab, the tree of the files, the backend and the sandbox
/// level.
std::string render_heading(const Report& report, const TextStyle& style);

enum class StudentsOutput { hidden, shown };

/// Return a stage's report for the student: verdict, the first failure in full, other failures in short, the
/// compiler's messages, timing and points; if `output` is shown, also the output of the student's code.
std::string render_stage(const StageReport& stage, const TextStyle& style,
                         StudentsOutput output = StudentsOutput::hidden);

/// Return the lines of the student's file that a finding quotes.
std::string render_quotes(const Finding& finding);

/// Return a line with the points of all stages; empty if no stage has points.
std::string render_total(const Report& report, const TextStyle& style);

}  // namespace warplab
