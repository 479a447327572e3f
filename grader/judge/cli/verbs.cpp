#include "grader/judge/cli/verbs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <future>

#include "grader/common/hash.h"
#include "grader/common/nearest.h"
#include "grader/common/text.h"
#include "grader/judge/cli/exposure.h"
#include "grader/judge/cli/import.h"
#include "grader/judge/cli/judging.h"
#include "grader/judge/cli/modelled.h"
#include "grader/judge/cli/next.h"
#include "grader/judge/cli/records.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/judge/judge.h"
#include "grader/judge/machine.h"
#include "grader/judge/present/console.h"
#include "grader/judge/present/render.h"
#include "grader/judge/present/table.h"
#include "grader/model/cause.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

bool is_project_tree(const Options& options) {
    return options.source.empty() && (options.tree == "solutions" || options.tree == "starter");
}

int exit_status(const Report& report) {
    switch (report.verdict()) {
        case Verdict::passed:
            return 0;
        case Verdict::failed:
            return 1;
        case Verdict::error:
            return 2;
    }
    return 2;
}

/// Return the strongest sandbox level that works. Other people's code is never graded without one.
SandboxLevel grading_level(const Options& options) {
    // The report needs the compilers' versions. Getting them takes as long as trying the sandbox, so do both at the
    // same time; describe_machine() remembers them.
    const auto machine = std::async(std::launch::async, describe_machine);
    const SandboxSupport& support = sandbox_support();
    if (support.level != SandboxLevel::none || options.unsafe || is_project_tree(options)) {
        hide_course(support.level, options.folders);
        return support.level;
    }
    throw UsageError(
        fmt::format("Grading other people's code needs a sandbox, and none is available here: {} With --unsafe "
                    "(UNSAFE=1) the code runs with your own rights.",
                    support.why_not_stronger));
}

/// Judge the stages one after the other. In case the judge is stopped, write the report about the stages judged so far
/// to the file `unfinished`, unless that name is empty. `modeller` adds modelled times without points.
Report judge_stages(Judge& judge, const std::string& verb, const Lab& lab, const std::vector<const Stage*>& stages,
                    const Task& task, const fs::path& unfinished = {}, Modeller* modeller = nullptr) {
    const Options& options = task.options;
    const bool models = verb == "grade" && options.speed == "modelled" && judge.backend() == Backend::cpu;
    std::optional<Modeller> scorer;
    if (models) scorer.emplace(judge, lab, options, task.sandbox);
    Report report = begin_report(judge, verb, lab, task);
    const TextStyle style = text_style(STDOUT_FILENO);
    print(render_heading(report, style) + render_sandbox_remark(report, style));
    Console console;
    std::future<void> ahead;  // the next stage's compilation, while this one runs
    const bool can_compile_ahead = judge.backend() == Backend::cpu && !options.force;
    for (std::size_t k = 0; k < stages.size(); ++k) {
        if (ahead.valid()) {
            console.show(fmt::format("{}/{}: compiling …", lab.name, stages[k]->id));
            ahead.wait();
        }
        if (can_compile_ahead && k + 1 < stages.size())
            ahead = judge.compile_ahead(lab, *stages[k + 1], source_for(judge, lab, *stages[k + 1], options), task);
        report.stages.push_back(judge_one(judge, lab, *stages[k], task, console));
        if (scorer) scorer->add_score(report.stages.back());
        if (modeller) modeller->add_time(report.stages.back());
        if (!unfinished.empty()) write_report(report, unfinished);
        const StageReport& stage_report = report.stages.back();
        print(describe_stage(stage_report, lab, options, style));
        keep_results(report, stage_report, lab, options);
    }
    if (!options.json.empty()) write_report(report, options.json);
    return report;
}

/// Return the requested stages; for the student's own tree without STAGE, the started stages.
std::vector<const Stage*> stages_for(const Lab& lab, const Options& options, const Folders& folders) {
    if (!options.stage.empty()) return stages_named(lab, options.stage);
    if (is_work(options)) {
        const auto started = started_stages(lab, folders);
        if (!started.empty()) return started;
        fmt::print(
            "No stage of {0} is started yet. Edit {1}, then type  make check LAB={0}  again.\nThis is the "
            "result for the starter of the first stage:\n\n",
            lab.name, (folders.work / lab.name / (lab.stages.front().id + ".cu")).string());
        return {&lab.stages.front()};
    }
    std::vector<const Stage*> all;
    for (const Stage& stage : lab.stages) all.push_back(&stage);
    return all;
}

Task grading_task(const Options& options) {
    return {.options = options,
            .hidden = true,
            .measure = options.speed != "off",
            .all_compilers = !options.no_nvcc,
            .sanitizer = !options.no_check_mode,
            .sandbox = grading_level(options)};
}

void check_speed(const std::string& speed) {
    if (!speed.empty() && speed != "measured" && speed != "modelled" && speed != "off")
        throw UsageError(fmt::format("SPEED={} is unknown. Choose measured, modelled or off.", speed));
}

/// Return whether a dataset can be modelled, but not run, without a GPU.
bool is_only_timed_on_gpu(const Lab& lab, const std::string& name) {
    return std::ranges::any_of(lab.datasets, [&](const Dataset& dataset) {
        return dataset.name == name && dataset.uses.bench && dataset.uses.cuda_only;
    });
}

std::vector<const Stage*> stages_to_grade(const Lab& lab, const Options& options) {
    if (!options.stage.empty()) return stages_named(lab, options.stage);
    const Stage& last = options.upto.empty() ? lab.stages.back() : lab.stage(options.upto);
    std::vector<const Stage*> included;
    for (const Stage& stage : lab.stages) {
        included.push_back(&stage);
        if (&stage == &last) break;
    }
    return included;
}

}  // namespace

std::vector<std::string> requested_labs(const Options& options) {
    return options.lab.empty() ? find_labs(options.folders.root) : std::vector{options.lab};
}

void check_names(const Lab& lab, const Options& options, Backend backend) {
    if (!options.dataset.empty() && lab.dataset(options.dataset).uses.cuda_only &&  // throws with the available names
        backend == Backend::cpu)
        throw UsageError(fmt::format(
            "The dataset {} needs a GPU: it is too large for the CPU backend, so there is nothing to check here. "
            "Omit DATASET, or name another one.",
            options.dataset));
    stages_named(lab, options.stage);  // throws with the available names
    std::error_code unreadable;
    const std::string source = options.source.string();
    if (!source.empty() && options.stage.empty())
        throw UsageError("With --source (SOURCE=), name the STAGE of the file.");
    if (!source.empty() && fs::is_directory(source, unreadable))
        throw UsageError(
            fmt::format("{0} is a folder, but SOURCE (--source) must be a .cu file. Use TREE={0} instead.", source));
    if (!source.empty() && !fs::exists(source, unreadable))
        throw UsageError(fmt::format("There is no file {}. SOURCE (--source) is one .cu file.", source));
    if (options.tree.empty() || options.tree == "work" || is_project_tree(options) ||
        fs::is_directory(options.tree, unreadable))
        return;
    throw UsageError(fmt::format(
        "There is no folder {}.{} TREE is work, solutions, starter, or a folder with the stages' files "
        "(NN_slug.cu), directly or in a folder named after the lab.",
        options.tree, did_you_mean(options.tree, std::vector<std::string>{"work", "solutions", "starter"})));
}

int start(const Options& options) {
    Judge judge(options.folders, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const auto new_files = start_lab(lab, judge.folders());
    const fs::path folder = options.folders.work / lab.name;
    if (new_files.empty())
        fmt::print("{} is already complete: nothing was copied and nothing changed.\n", folder.string());
    for (const fs::path& file : new_files) fmt::print("  {}\n", file.string());
    const fs::path next = new_files.empty() ? folder / (lab.stages.front().id + ".cu") : new_files.front();
    fmt::print("Read handouts/{0}.md, edit {1}, then type  make check LAB={0} STAGE={2}\n", lab.name, next.string(),
               next.filename().string().substr(0, 2));
    return 0;
}

int check(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Lab& lab = judge.lab(options.lab);
    check_names(lab, options, judge.backend());
    start_if_needed(lab, options);
    const Task task{.options = options, .own_code = true, .sanitizer = !options.no_check_mode};
    const Report report = judge_stages(judge, "check", lab, stages_for(lab, options, judge.folders()), task);
    print(next_after(report, lab, options));
    return exit_status(report);
}

int bench(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Lab& lab = judge.lab(options.lab);
    const bool models = judge.backend() == Backend::cpu && !options.force;
    Task task{.options = options, .own_code = true, .measure = true, .sanitizer = !options.no_check_mode};
    task.options.unscored = true;
    if (models && is_only_timed_on_gpu(lab, options.dataset)) task.options.dataset.clear();  // check the small ones
    check_names(lab, task.options, judge.backend());
    start_if_needed(lab, options);
    std::optional<Modeller> modeller;  // made here, so that an unknown GPU is refused before anything runs
    if (models) modeller.emplace(judge, lab, options, SandboxLevel::none);
    const Report report = judge_stages(judge, "bench", lab, stages_for(lab, options, judge.folders()), task, {},
                                       modeller ? &*modeller : nullptr);
    if (judge.backend() == Backend::cpu && !modeller) {
        fmt::print("These are times of the CPU backend. They say nothing about a GPU.\n");
    } else if (modeller) {
        fmt::print("{}", wrap(fmt::format("Not timed: this machine has no GPU to time on ({}).", why_no_gpu()), 0,
                              text_style(STDOUT_FILENO).width));
        modeller->print();
    }
    print(next_after(report, lab, options));
    return exit_status(report);
}

int grade(const Options& options) {
    check_speed(options.speed);
    Judge judge(options.folders, choose_backend(options.backend));
    const Task task = grading_task(options);
    const std::vector<std::string> names = requested_labs(options);
    std::vector<Report> reports;
    int status = 0;
    const fs::path folder = options.report_dir.empty() ? options.folders.build / "report" : options.report_dir;
    for (const std::string& name : names) {
        Lab& lab = judge.lab_for_grading(name);
        check_names(lab, options, judge.backend());
        if (options.speed == "off")
            for (Stage& stage : lab.stages) stage.points.speed = 0;
        start_if_needed(lab, options);
        const fs::path unfinished = options.report_dir.empty() ? "" : folder / (name + ".unfinished.json");
        reports.push_back(judge_stages(judge, "grade", lab, stages_to_grade(lab, options), task, unfinished));
        write_report(reports.back(), folder / (name + ".json"));
        if (!unfinished.empty()) fs::remove(unfinished);
        status = std::max(status, exit_status(reports.back()));
    }
    print("\n" + render_table(reports, text_style(STDOUT_FILENO)));
    fmt::print("Reports: {}\n", names.size() == 1 ? (folder / (names.front() + ".json")).string() : folder.string());
    return status;
}

int compile_for_grading(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Task task = grading_task(options);
    const Lab& lab = judge.lab(options.lab);
    check_names(lab, options, judge.backend());
    for (const Stage* stage : stages_to_grade(lab, options))
        judge.compile_ahead(lab, *stage, source_for(judge, lab, *stage, options), task).wait();
    return 0;
}

int measure_baselines(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Lab& lab = judge.lab(options.lab);
    for (const Dataset& dataset : lab.datasets)
        if (dataset.uses.bench && !dataset.uses.unscored &&
            !(judge.backend() == Backend::cpu && dataset.uses.cuda_only))
            judge.baseline(lab, dataset);
    return 0;
}

int import(const Options& options) {
    Judge judge(options.folders, Backend::cpu);
    const Report report = read_report(options.report);
    const Lab& lab = judge.lab(report.lab);
    const ImportSummary summary = import_report(report, lab, options.report, options.folders.work);
    print(summary.text);
    fmt::print("{} of {} added to {}.\n", summary.added, format_plural(report.stages.size(), "stage"),
               records_file(options.folders.work, lab.name).string());
    if (summary.foreign > 0)
        print(wrap(fmt::format("A journal is about your own files: check the file that was measured (put it into {}) "
                               "before you import its report.",
                               (options.folders.work / lab.name).string()),
                   0, text_style(STDOUT_FILENO).width));
    if (summary.added > 0) fmt::print("Next: make journal LAB={}\n", lab.name);
    return summary.foreign > 0 ? 1 : 0;
}

int print_flags(const Options&) {
    fmt::print("STUDENT_FLAGS := {}\nFAST_FLAGS := {}\nSPLIT_FLAGS := {}\nRUNTIME_FLAGS := {}\n",
               fmt::join(student_cpu_flags(), " "), fmt::join(fast_cpu_flags(), " "), fmt::join(split_cpu_flags(), " "),
               fmt::join(harness_flags(Backend::cpu), " "));
    return 0;
}

int prepare_harness(const Options& options) {
    build_harness(options.folders.root, options.folders.build, choose_backend(options.backend));
    return 0;
}

}  // namespace warplab
