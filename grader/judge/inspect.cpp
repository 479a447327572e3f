// Check mode on a stage: every public dataset that is small enough, with every access watched. Needs no GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "grader/core/text.h"
#include "grader/core/utf8.h"
#include "grader/judge/findings.h"
#include "grader/judge/judge.h"
#include "grader/judge/verbs.h"
#include "grader/judge/work.h"

namespace warplab {
namespace {

constexpr double most_bytes = 1 << 20;    // that a dataset has, times its iterations
constexpr std::size_t most_printed = 12;  // discoveries

bool small_enough(const StageRun& run, const Dataset& dataset) {
    if (!dataset.uses.check || dataset.uses.cuda_only || !dataset.applies_to(run.stage)) return false;
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    double bytes = 0;
    for (const Array& array : problem.arrays) bytes += static_cast<double>(array.bytes());
    return bytes * std::max(1.0, run.oracle.cost(problem).iterations) <= most_bytes;
}

std::string source_line(const std::filesystem::path& source, int wanted) {
    std::ifstream file(source);
    std::string line;
    for (int i = 0; i < wanted && std::getline(file, line); ++i) {
    }
    const std::size_t first = line.find_first_not_of(" \t");
    return wanted > 0 && first != std::string::npos ? to_printable(line.substr(first, 100)) : "";
}

void print_discovery(const Discovery& d, const std::filesystem::path& source) {
    const TextStyle style = text_style(STDOUT_FILENO);
    const std::string name = source.filename().string();
    fmt::print("{}:{}: {}\n", name, d.line,
               paint(d.is_note ? "note" : d.cause, d.is_note ? Colour::yellow : Colour::red, style));
    fmt::print("{}", wrap(d.message, 4, style.width));
    if (const auto text = source_line(source, d.line); !text.empty()) fmt::print("    {:>5} | {}\n", d.line, text);
    if (d.other_line > 0 && d.other_line != d.line)
        fmt::print("    {:>5} | {}\n", d.other_line, source_line(source, d.other_line));
    if (!d.hint.empty()) fmt::print("{}", wrap("Hint: " + d.hint, 4, style.width));
    if (d.count > 1) fmt::print("    {} times in all\n", format_count(d.count));
}

}  // namespace

int inspect(const Options& options) {
    Judge judge({options.root, options.build, options.work}, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    check_names(lab, options, Backend::cpu);
    if (options.source.empty() && options.tree.empty()) start_lab(lab, judge.folders());
    const auto source = options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    Task task;
    task.for_tools = true;
    Judge::Ready ready = judge.make_ready(lab, stage, source, task);
    if (!ready.run) {
        const auto& failure = ready.compilation.failure;
        fmt::print("{}{}", ready.compilation.log, wrap(failure ? failure->message : "It does not compile.", 0, 100));
        return ready.compilation.verdict == Verdict::failed ? 1 : 2;
    }
    StageRun& run = *ready.run;
    run.environment = {"WARPLAB_THREADS=1"};
    std::size_t datasets = 0;
    for (const Dataset& dataset : lab.datasets) {
        if (!options.dataset.empty() ? dataset.name != options.dataset : !small_enough(run, dataset)) continue;
        ++datasets;
        check_dataset(run, dataset);
        run.end_session();
    }
    fmt::print("{}/{} in check mode on {} (cpu backend)\n", lab.name, stage.id, format_plural(datasets, "dataset"));
    const std::vector<Discovery> found = explain_findings(run, run.findings);
    std::size_t failures = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        failures += !found[i].is_note;
        if (i < most_printed) print_discovery(found[i], source);
    }
    if (found.size() > most_printed) fmt::print("... and {} more\n", found.size() - most_printed);
    if (failures == 0) fmt::print("No race, no access out of bounds, nothing read before it was written.\n");
    return failures ? 1 : 0;
}

}  // namespace warplab
