#include "grader/judge/import.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iterator>

#include "grader/core/utf8.h"
#include "grader/judge/records.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

/// Rejects reports that the judge cannot have produced.
void require_plausible(const Report& report, const Lab& lab, const fs::path& file) {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(fmt::format("{} is not taken: {}.", Foreign(file.string()).for_terminal(), why));
    };
    const std::string tomorrow = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr) + 86400));
    if (report.time.size() != tomorrow.size() || report.time > tomorrow)
        refuse(fmt::format("its time, \"{}\", is invalid or in the future", Foreign(report.time).for_terminal()));
    for (const StageReport& stage : report.stages) {
        lab.stage(stage.stage);  // throws with the names there are
        for (const Measurement& m : stage.measurements) {
            const auto known = [&](const Dataset& dataset) { return dataset.name == m.dataset; };
            if (std::none_of(lab.datasets.begin(), lab.datasets.end(), known))
                refuse(fmt::format("{} has no dataset \"{}\"", lab.name, Foreign(m.dataset).for_terminal()));
            const auto positive = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
            if (m.samples_s.empty() || !positive(m.median_s) ||
                !std::all_of(m.samples_s.begin(), m.samples_s.end(), positive))
                refuse(fmt::format("{} on {} has no time, or one that is not above 0 s", stage.stage, m.dataset));
        }
    }
}

std::string import_words(const Report& report, const StageReport& stage, Imported outcome) {
    if (outcome == Imported::there_already) return "is in the journal already";
    if (outcome == Imported::not_yours) return "not taken: it is about a text that is none of yours";
    if (stage.measurements.empty()) return std::string(verdict_name(stage.verdict)) + ", not timed";
    return "measured on " + (report.backend == "cuda" ? Foreign(report.machine.gpu).for_terminal() : "the CPU backend");
}

}  // namespace

Report read_report(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream || fs::is_directory(file))
        throw UsageError(fmt::format("{} cannot be read. REPORT is one report.json.", file.string()));
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    try {
        return parse_report(text);
    } catch (const std::exception& error) {
        throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

ImportSummary import_report(const Report& report, const Lab& lab, const fs::path& file, const fs::path& work) {
    require_plausible(report, lab, file);
    ImportSummary summary;
    for (const StageReport& stage : report.stages) {
        const Imported outcome = record_imported(work, report, stage, file.filename().string());
        summary.added += outcome == Imported::added;
        summary.foreign += outcome == Imported::not_yours;
        summary.text +=
            fmt::format("  {:<28} {}\n", Foreign(stage.stage).for_terminal(), import_words(report, stage, outcome));
    }
    return summary;
}

}  // namespace warplab
