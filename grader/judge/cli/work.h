#pragma once
// Manages the student's folder: copies starters into it, keeps reports and determines each stage's progress.

#include <filesystem>
#include <string_view>
#include <vector>

#include "grader/judge/judge.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Copy the starters that a student does not have yet; never change an existing file. Return the new files. Throws
/// UsageError if the folder cannot be written.
std::vector<std::filesystem::path> start_lab(const Lab& lab, const Folders& folders);

/// Return the stages whose file differs from its starter.
std::vector<const Stage*> started_stages(const Lab& lab, const Folders& folders);

/// Return when the stage's file was last written; file_time_type::min() if it is missing or equals its starter.
std::filesystem::file_time_type last_edited(const Lab& lab, const Stage& stage, const Folders& folders);

/// Keep the stage's latest report in work/<lab>/reports/<stage>.json. Throws UsageError, as write_report() does.
void keep_report(const Report& report, const StageReport& stage, const Lab& lab, const Folders& folders);
/// Write a report, and replace an existing file atomically. Throws UsageError if the file cannot be written.
void write_report(const Report& report, const std::filesystem::path& file);

/// The student's progress in a stage.
enum class Standing { not_started, not_checked, changed_since, failing, passing, measured };
std::string_view standing_words(Standing standing);
Standing standing_of(const Lab& lab, const Stage& stage, const Folders& folders);

/// Return the points that the stage's last report gives; 0 if the file has changed since.
double points_of(const Lab& lab, const Stage& stage, const Folders& folders);

}  // namespace warplab
