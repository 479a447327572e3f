#include "grader/judge/cli/work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "grader/common/hash.h"
#include "grader/common/read_file.h"
#include "grader/judge/compile/source.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

fs::path work_file(const Lab& lab, const Stage& stage, const Folders& folders) {
    return folders.work / lab.name / (stage.id + ".cu");
}

fs::path starter_file(const Lab& lab, const Stage& stage, const Folders& folders) {
    return folders.root / "starter" / lab.name / (stage.id + ".cu");
}

bool is_untouched(const Lab& lab, const Stage& stage, const Folders& folders) {
    const fs::path own_file = work_file(lab, stage, folders), starter = starter_file(lab, stage, folders);
    std::error_code unreadable;
    if (!fs::exists(own_file, unreadable)) return true;
    return fs::exists(starter) && Source(own_file).hash() == sha256_file(starter);
}

std::optional<Report> last_report(const Lab& lab, const Stage& stage, const Folders& folders) {
    try {
        const fs::path file = folders.work / lab.name / "reports" / (stage.id + ".json");
        auto report = parse_report(try_read_file(file, max_report_bytes).value_or(""));
        if (report.stages.empty()) return std::nullopt;
        return report;
    } catch (const std::exception&) {
        return std::nullopt;  // missing, written by another version, or by hand: the next check replaces it
    }
}

/// Return the stage's last report if it is about the file's current text.
std::optional<Report> current_report(const Lab& lab, const Stage& stage, const Folders& folders) {
    auto report = last_report(lab, stage, folders);
    const bool current = report && report->stages.front().source_hash == Source(work_file(lab, stage, folders)).hash();
    return current ? report : std::nullopt;
}

/// Write a Makefile to work/<lab>/, so that `make` runs the same verbs there.
void add_makefile(const Lab& lab, const Folders& folders) {
    std::error_code error;
    const fs::path file = folders.work / lab.name / "Makefile";
    if (!fs::equivalent(folders.work, folders.root / "work", error) || fs::exists(fs::symlink_status(file))) return;
    std::ofstream(file) << "include ../../Makefile\n";
}

/// Rename files of stages that had another number in an earlier version of the lab, and print their names.
void rename_renumbered(const Lab& lab, const fs::path& folder, std::string_view ending) {
    std::error_code error;
    std::map<fs::path, fs::path> renamed;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string id = entry.path().stem().string();
        const auto is_older = [&](const Stage& stage) { return stage.id != id && is_same_stage(stage.id, id); };
        const auto stage = std::ranges::find_if(lab.stages, is_older);
        if (stage == lab.stages.end() || entry.path().extension() != ending) continue;
        const fs::path to = folder / (stage->id + std::string(ending));
        if (!fs::exists(fs::symlink_status(to, error))) renamed[to] = entry.path();
    }
    for (const auto& [to, from] : renamed) {
        fs::rename(from, to, error);
        if (!error) fmt::print("Renamed {} to {}: the stage has another number now.\n", from.string(), to.string());
    }
}

}  // namespace

std::vector<fs::path> start_lab(const Lab& lab, const Folders& folders) {
    std::vector<fs::path> new_files;
    std::error_code error;
    fs::create_directories(folders.work / lab.name, error);
    if (error)
        throw UsageError(fmt::format("The folder {} cannot be created ({}). Choose a writable one with WORK=…",
                                     (folders.work / lab.name).string(), error.message()));
    rename_renumbered(lab, folders.work / lab.name, ".cu");
    rename_renumbered(lab, folders.work / lab.name / "reports", ".json");
    for (const Stage& stage : lab.stages) {
        const fs::path from = starter_file(lab, stage, folders), to = work_file(lab, stage, folders);
        if (fs::exists(fs::symlink_status(to)) || !fs::exists(from)) continue;
        if (!fs::copy_file(from, to, fs::copy_options::none, error) || error)
            throw UsageError(fmt::format("{} cannot be written ({}). Choose a writable folder with WORK=…", to.string(),
                                         error.message()));
        fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, error);
        new_files.push_back(to);
    }
    add_makefile(lab, folders);
    return new_files;
}

std::vector<const Stage*> started_stages(const Lab& lab, const Folders& folders) {
    std::vector<const Stage*> started;
    for (const Stage& stage : lab.stages)
        if (!is_untouched(lab, stage, folders)) started.push_back(&stage);
    return started;
}

void write_report(const Report& report, const fs::path& file) {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    // A device such as /dev/stdout is written, not replaced.
    const bool in_place = fs::exists(file, error) && !fs::is_regular_file(fs::symlink_status(file, error));
    const fs::path fresh = in_place ? file : fs::path(fmt::format("{}.{}.new", file.string(), getpid()));
    std::ofstream stream(fresh);
    stream << format_report(report) << "\n";
    stream.close();
    if (!stream.good()) {
        if (!in_place) fs::remove(fresh, error);
        throw UsageError(fmt::format("The report {} cannot be written. Is the folder writable, and the disk not full?",
                                     file.string()));
    }
    if (!in_place) fs::rename(fresh, file, error);
    if (!in_place && error)
        throw UsageError(fmt::format("The report {} cannot be written ({}).", file.string(), error.message()));
}

void keep_report(const Report& report, const StageReport& stage, const Lab& lab, const Folders& folders) {
    Report single = report;
    single.stages = {stage};
    try {
        write_report(single, folders.work / lab.name / "reports" / (stage.stage + ".json"));
    } catch (const UsageError& error) {
        throw UsageError(error.what() + std::string(" Without it `make` does not know your progress."));
    }
}

fs::file_time_type last_edited(const Lab& lab, const Stage& stage, const Folders& folders) {
    std::error_code error;  // last_write_time() returns min() for a dangling link
    return is_untouched(lab, stage, folders) ? fs::file_time_type::min()
                                             : fs::last_write_time(work_file(lab, stage, folders), error);
}

std::string_view standing_words(Standing standing) {
    switch (standing) {
        case Standing::not_started:
            return "not started";
        case Standing::not_checked:
            return "not checked";
        case Standing::changed_since:
            return "changed since";
        case Standing::failing:
            return "failing";
        case Standing::passing:
            return "passing";
        case Standing::measured:
            return "measured";
    }
    return "";
}

Standing standing_of(const Lab& lab, const Stage& stage, const Folders& folders) {
    if (is_untouched(lab, stage, folders)) return Standing::not_started;
    if (!last_report(lab, stage, folders)) return Standing::not_checked;
    const auto report = current_report(lab, stage, folders);
    if (!report) return Standing::changed_since;
    const StageReport& last = report->stages.front();
    if (last.verdict == Verdict::failed) return Standing::failing;
    if (last.verdict == Verdict::error) return Standing::not_checked;
    const bool on_gpu = report->backend == "cuda";  // a time on the CPU backend is not a measurement
    return last.measurements.empty() || !on_gpu ? Standing::passing : Standing::measured;
}

double points_of(const Lab& lab, const Stage& stage, const Folders& folders) {
    if (is_untouched(lab, stage, folders)) return 0;
    const auto report = current_report(lab, stage, folders);
    return report && report->stages.front().score ? report->stages.front().score->total() : 0;
}

}  // namespace warplab
