#pragma once
// Fuzzes an untrusted report.json, which is read, rendered and imported.

#include <span>
#include <stdexcept>
#include <string>

#include "grader/common/utf8.h"
#include "grader/judge/cli/import.h"
#include "grader/judge/present/table.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/scratch.h"
#include "tests/judge/present/render_report.h"

namespace warplab::fuzz {

/// Read a report. Return false if it is refused.
inline bool read_report(std::string_view text, Report& report) {
    try {
        report = parse_report(text);
        return true;
    } catch (const std::logic_error&) {
        throw;
    } catch (const std::runtime_error& refusal) {
        require(std::string_view(refusal.what()).starts_with("this is not a valid report: at "),
                "a refusal names the place");
        return false;
    }
}

/// Return a lab with the stages and datasets that the report names.
inline Lab make_lab(const Report& report) {
    Lab lab;
    lab.name = "lab";
    for (const StageReport& stage : report.stages) {
        lab.stages.emplace_back().id = stage.stage;
        for (const Measurement& measured : stage.measurements) lab.datasets.emplace_back().name = measured.dataset;
    }
    return lab;
}

/// Import a report into an empty journal.
inline void try_import(Report report) {
    report.lab = "lab";
    const ScratchFolder work("import");
    try {
        const ImportSummary summary = import_report(report, make_lab(report), "report.json", work.path);
        require(to_printable(summary.text) == summary.text, "the output of import is printable");
        require(summary.added + summary.foreign <= static_cast<int>(report.stages.size()), "a stage is added once");
    } catch (const UsageError& refusal) {
        require(!std::string_view(refusal.what()).empty(), "a refusal has a message");
    }
}

inline void try_report(std::string_view bytes) {
    Report report;
    if (!read_report(bytes, report)) return;
    const std::string written = format_report(report);
    require(format_report(parse_report(written)) == written, "a report survives writing and reading");
    const std::string output =
        test::render_report(report, {}, StudentsOutput::shown) + render_table(std::span(&report, 1), {});
    require(to_printable(output) == output, "a report is printable");
    try_import(report);
}

}  // namespace warplab::fuzz
