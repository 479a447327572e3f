#include "grader/judge/cli/judging.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "grader/common/text.h"
#include "grader/common/usage_error.h"
#include "grader/judge/cli/records.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/present/questions.h"
#include "grader/judge/present/render.h"

namespace warplab {
namespace fs = std::filesystem;

bool is_work(const Options& options) {
    return options.source.empty() && (options.tree.empty() || options.tree == "work");
}

bool asks_first(const Lab& lab, const Options& options) { return is_work(options) && lab.asks_first && !options.hint; }

std::string describe_stage(const StageReport& stage, const Lab& lab, const Options& options, const TextStyle& style) {
    const auto output = options.dataset.empty() ? StudentsOutput::hidden : StudentsOutput::shown;
    return render_stage(asks_first(lab, options) ? ask_first(stage) : stage, style, output);
}

void start_if_needed(const Lab& lab, const Options& options) {
    if (!is_work(options)) return;
    const auto new_files = start_lab(lab, options.folders);
    if (!new_files.empty())
        fmt::print("Copied {} into {}.\n", format_plural(new_files.size(), "starter file"),
                   (options.folders.work / lab.name).string());
}

std::vector<const Stage*> stages_named(const Lab& lab, const std::string& names) {
    std::vector<const Stage*> stages;
    for (std::size_t begin = 0, end = 0; end < names.size(); begin = end + 1) {
        end = std::min(names.find(',', begin), names.size());
        stages.push_back(&lab.stage(names.substr(begin, end - begin)));
    }
    return stages;
}

fs::path source_for(const Judge& judge, const Lab& lab, const Stage& stage, const Options& options) {
    return options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
}

Report begin_report(const Judge& judge, const std::string& verb, const Lab& lab, const Task& task) {
    const Options& options = task.options;
    return judge.begin_report(verb, lab, task, options.source.empty() ? options.tree : options.source.string());
}

StageReport judge_one(Judge& judge, const Lab& lab, const Stage& stage, const Task& task, Console& console) {
    Listener listener;
    listener.doing = [&](const std::string& what) {
        console.show(fmt::format("{}/{}: {} …", lab.name, stage.id, what));
    };
    StageReport report = judge.judge_stage(lab, stage, source_for(judge, lab, stage, task.options), task, listener);
    console.clear();
    return report;
}

void keep_results(const Report& report, const StageReport& stage, const Lab& lab, const Options& options) {
    if (!is_work(options)) return;
    keep_or_print_error([&] { record_report(options.folders.work, report, stage, options.dataset); });
    // A result of one dataset alone does not determine the student's progress or points.
    if (options.dataset.empty()) keep_or_print_error([&] { keep_report(report, stage, lab, options.folders); });
}

void keep_or_print_error(const std::function<void()>& keep) {
    try {
        keep();
    } catch (const UsageError& error) {
        print(wrap(error.what(), 0, text_style(STDOUT_FILENO).width));
    }
}

}  // namespace warplab
