#pragma once
// The student's folder: starters copied in, reports kept, and where each stage stands.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/judge.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Copies the starters a student does not have yet; never touches a file that is there. Returns the new files.
/// Throws UsageError when the folder cannot be written.
std::vector<std::filesystem::path> start_lab(const Lab& lab, const Folders& folders);

/// The stages whose file differs from its starter.
std::vector<const Stage*> started_stages(const Lab& lab, const Folders& folders);

/// When the stage's file was written last; file_time_type::min() while it is as its starter.
std::filesystem::file_time_type last_edited(const Lab& lab, const Stage& stage, const Folders& folders);

/// Keeps the stage's latest report in work/<lab>/reports/<stage>.json, replacing it in one step.
void keep_report(const Report& report, const StageReport& stage, const Lab& lab, const Folders& folders);
void write_report(const Report& report, const std::filesystem::path& file);

/// "not started", "not checked", "changed since", "failing", "passing", "measured".
struct Standing {
    std::string words;
    std::optional<StageReport> last;
};
Standing standing_of(const Lab& lab, const Stage& stage, const Folders& folders);

}  // namespace warplab
