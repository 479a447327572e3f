#pragma once
// report.json as anybody may have written it.

#include <span>
#include <stdexcept>
#include <string>

#include "grader/core/render.h"
#include "grader/core/report.h"
#include "grader/core/table.h"
#include "grader/core/utf8.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

/// False when it is refused.
inline bool read_report(std::string_view text, Report& report) {
    try {
        report = parse_report(text);
        return true;
    } catch (const std::logic_error&) {
        throw;
    } catch (const std::runtime_error& refusal) {
        require(std::string_view(refusal.what()).starts_with("this is no report: at "), "a refusal says where");
        return false;
    }
}

inline void try_report(std::string_view bytes) {
    Report report;
    if (!read_report(bytes, report)) return;
    const std::string written = format_report(report);
    require(format_report(parse_report(written)) == written, "a report survives writing and reading");
    const std::string shown = render_report(report, {}, true) + render_table(std::span(&report, 1), {});
    require(to_printable(shown) == shown, "a report is printable");
}

}  // namespace warplab::fuzz
