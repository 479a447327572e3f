#include "grader/judge/cli/next.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/judge/cli/judging.h"
#include "grader/judge/machine.h"

namespace warplab {
namespace {

std::string command(const char* verb, const Lab& lab, const Stage& stage) {
    return fmt::format("make {} LAB={} STAGE={}", verb, lab.name, stage.id.substr(0, 2));
}

std::string edit(const Lab& lab, const Stage& stage, const Folders& folders, bool watched = false) {
    const std::string next_command =
        watched ? " and save it" : fmt::format(", then type  {}", command("check", lab, stage));
    return fmt::format("edit {}{}", (folders.work / lab.name / (stage.id + ".cu")).string(), next_command);
}

/// Return the next step if all judged stages passed: for the `last` of them or, if it is done, for the next unfinished
/// stage.
std::string after_pass(const Lab& lab, const Stage& last, const Folders& folders, bool watched) {
    const auto begin = static_cast<std::size_t>(&last - lab.stages.data());
    for (std::size_t k = 0; k < lab.stages.size(); ++k) {
        const Stage& stage = lab.stages[(begin + k) % lab.stages.size()];
        const Standing standing = standing_of(lab, stage, folders);
        if (watched && standing == Standing::not_started) return edit(lab, stage, folders, watched);
        const std::string step = next_step(lab, stage, standing, folders);
        if (!step.empty()) return step;
    }
    return fmt::format("make submit LAB={0}  (every stage of {0} passes)", lab.name);
}

}  // namespace

std::string next_step(const Lab& lab, const Stage& stage, Standing standing, const Folders& folders) {
    if (standing == Standing::not_started) return edit(lab, stage, folders);
    const bool passes = standing == Standing::passing || standing == Standing::measured;
    if (standing == Standing::measured || (passes && !why_no_gpu().empty())) return "";
    return command(passes ? "bench" : "check", lab, stage);
}

std::string next_after(const Report& report, const Lab& lab, const Options& options, bool watched) {
    if (!is_work(options) || report.stages.empty()) return "";
    const auto passed = [](const StageReport& stage) { return stage.verdict == Verdict::passed; };
    const auto bad = std::ranges::find_if_not(report.stages, passed);
    if (bad == report.stages.end())
        return fmt::format("Next: {}\n",
                           after_pass(lab, lab.stage(report.stages.back().stage), options.folders, watched));
    const Stage& stage = lab.stage(bad->stage);
    if (bad->verdict == Verdict::error || needs_gpu(bad->compilation)) return "";
    if (first_finding(*bad)) return fmt::format("Next: {}\n", command("inspect", lab, stage));
    return fmt::format("Next: {}\n", edit(lab, stage, options.folders, watched));
}

}  // namespace warplab
