#include "grader/judge/cli/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>

#include "grader/common/read_file.h"
#include "grader/common/utf8.h"
#include "grader/judge/cli/records.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_time_bytes = 40;
constexpr auto max_clock_difference = std::chrono::hours(24);

using Time = std::chrono::sys_seconds;

/// Parse a time as the judge writes it, 2026-11-20T10:00:00Z. Return nothing if there is no such time.
std::optional<Time> parse_time(std::string_view text) {
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
    const auto fits = [](char c, char expected) { return expected == 'd' ? c >= '0' && c <= '9' : c == expected; };
    if (!std::equal(text.begin(), text.end(), form.begin(), form.end(), fits)) return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        std::from_chars(text.data() + at, text.data() + at + digits, value);
        return value;
    };
    using namespace std::chrono;
    const year_month_day date(year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                              day(static_cast<unsigned>(number(8, 2))));
    const int h = number(11, 2), m = number(14, 2), s = number(17, 2);
    if (!date.ok() || h > 23 || m > 59 || s > 59) return std::nullopt;
    return sys_days(date) + hours(h) + minutes(m) + seconds(s);
}

/// Reject reports that the judge cannot have produced.
void require_plausible(const Report& report, const Lab& lab, const fs::path& file) {
    const auto refuse = [&](const std::string& reason) {
        throw UsageError(
            fmt::format("{} cannot be imported: {}.", UntrustedText(file.string()).for_terminal(), reason));
    };
    const std::optional<Time> time = parse_time(report.time);
    const std::string quoted = UntrustedText(report.time.substr(0, max_time_bytes)).for_terminal();
    if (!time) refuse(fmt::format("its time, \"{}\", is not in the form 2026-11-20T10:00:00Z", quoted));
    if (*time > std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + max_clock_difference)
        refuse(fmt::format("its time, {}, is in the future; check the clock of the machine that made it", quoted));
    for (const StageReport& stage : report.stages) {
        lab.stage(stage.stage);  // throws with the existing names
        for (const Measurement& m : stage.measurements) {
            const auto has_name = [&](const Dataset& dataset) { return dataset.name == m.dataset; };
            if (std::ranges::none_of(lab.datasets, has_name))
                refuse(fmt::format("{} has no dataset \"{}\"", lab.name, UntrustedText(m.dataset).for_terminal()));
            const auto positive = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
            if (m.samples_s.empty() || !positive(m.median_s) || !std::ranges::all_of(m.samples_s, positive))
                refuse(fmt::format("{} on {} has no time above 0 s", stage.stage, m.dataset));
        }
    }
}

std::string import_words(const Report& report, const StageReport& stage, Imported outcome) {
    if (outcome == Imported::already_there) return "is in the journal already";
    if (outcome == Imported::not_yours) return "skipped: it describes a file that is not yours";
    if (stage.measurements.empty()) return std::string(verdict_name(stage.verdict)) + ", not timed";
    return "measured on " +
           (report.backend == "cuda" ? UntrustedText(report.machine.gpu).for_terminal() : "the CPU backend");
}

}  // namespace

Report read_report(const fs::path& file) {
    const std::optional<std::string> text = try_read_file(file, max_report_bytes);
    if (!text) throw UsageError(fmt::format("{} cannot be read. REPORT is the path of a report.json.", file.string()));
    try {
        return parse_report(*text);
    } catch (const std::exception& error) {
        throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

ImportSummary import_report(const Report& report, const Lab& lab, const fs::path& file, const fs::path& work) {
    require_plausible(report, lab, file);
    ImportSummary summary;
    for (StageReport stage : report.stages) {
        stage.stage = lab.stage(stage.stage).id;  // its number may have changed
        const Imported outcome = record_imported(work, report, stage, file.filename().string());
        summary.added += outcome == Imported::added;
        summary.foreign += outcome == Imported::not_yours;
        summary.text += fmt::format("  {:<28} {}\n", UntrustedText(stage.stage).for_terminal(),
                                    import_words(report, stage, outcome));
    }
    return summary;
}

}  // namespace warplab
