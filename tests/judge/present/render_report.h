#pragma once
// Renders all parts of a report as one text.

#include <string>

#include "grader/judge/present/render.h"

namespace warplab::test {

/// Return the heading, every stage and, if points were given, their sum.
inline std::string render_report(const Report& report, const TextStyle& style,
                                 StudentsOutput output = StudentsOutput::hidden) {
    std::string text = render_heading(report, style) + render_sandbox_remark(report, style);
    for (const auto& stage : report.stages) text += "\n" + render_stage(stage, style, output);
    const auto sum = render_total(report, style);
    return sum.empty() ? text : text + "\n" + sum;
}

}  // namespace warplab::test
