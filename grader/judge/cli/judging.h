#pragma once
// Functions for all verbs that judge stages: they find the file, show progress, and keep the results in the work
// folder.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/judge.h"
#include "grader/judge/options.h"
#include "grader/judge/present/console.h"
#include "grader/model/report.h"

namespace warplab {

/// Return whether the student's own files are judged. Only in this case are reports and journal records stored.
bool is_work(const Options& options);

/// Return whether a question is shown before the hint: only for the student's own files.
bool asks_first(const Lab& lab, const Options& options);

/// Return the text to print about a stage.
std::string describe_stage(const StageReport& stage, const Lab& lab, const Options& options, const TextStyle& style);

/// If the student's own files are judged, copy missing starters and print a message.
void start_if_needed(const Lab& lab, const Options& options);

/// Return the stages of a list such as "1,2". Throws UsageError with the choices if one does not exist.
std::vector<const Stage*> stages_named(const Lab& lab, const std::string& names);

std::filesystem::path source_for(const Judge& judge, const Lab& lab, const Stage& stage, const Options& options);

/// Return a report without stages.
Report begin_report(const Judge& judge, const std::string& verb, const Lab& lab, const Task& task);

/// Judge one stage, and show progress in one line on the terminal.
StageReport judge_one(Judge& judge, const Lab& lab, const Stage& stage, const Task& task, Console& console);

/// Store the result in the journal and as the stage's progress, if it is about the student's own file.
void keep_results(const Report& report, const StageReport& stage, const Lab& lab, const Options& options);

/// Run `keep`, which saves a result. If it throws UsageError, only print the message: the verdict is valid even if it
/// cannot be saved.
void keep_or_print_error(const std::function<void()>& keep);

}  // namespace warplab
