// `inspect`: runs a stage under the sanitizer on every public dataset that is small enough. Needs no GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "grader/common/json.h"
#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/cli/judging.h"
#include "grader/judge/cli/modelled.h"
#include "grader/judge/cli/records.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/judge.h"
#include "grader/judge/present/console.h"
#include "grader/judge/present/questions.h"
#include "grader/judge/present/render.h"
#include "grader/judge/sanitizer/findings.h"
#include "grader/judge/sanitizer/inspection.h"
#include "grader/judge/sanitizer/run.h"
#include "grader/judge/settle.h"

namespace warplab {
namespace {

constexpr std::size_t max_findings_printed = 12, max_lines = 32, max_shapes_printed = 6;
constexpr int counts_width = 39, share_width = 9;

std::vector<std::string> lines_of(const Source& source) {
    std::vector<std::string> lines;
    std::istringstream stream(source.text());
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void print_finding(const Finding& finding, const std::string& file) {
    const TextStyle style = text_style(STDOUT_FILENO);
    fmt::print(
        "{}:{}: {}\n", to_printable(file), finding.line,
        paint(finding.note ? "note" : to_printable(finding.cause), finding.note ? Colour::yellow : Colour::red, style));
    fmt::print("{}{}", wrap(finding.message, 4, style.width), render_quotes(finding));
    if (!finding.hint.empty()) fmt::print("{}", wrap("Hint: " + finding.hint, 4, style.width));
    if (finding.count > 1) fmt::print("    {} times in total\n", format_count(finding.count));
}

void print_findings(const Inspected& inspected, const std::string& file, bool asking) {
    for (std::size_t i = 0; i < inspected.findings.size() && i < max_findings_printed; ++i)
        print_finding(asking ? ask_first(inspected.findings[i]) : inspected.findings[i], file);
    if (inspected.findings.size() > max_findings_printed)
        fmt::print("... and {} more\n", inspected.findings.size() - max_findings_printed);
}

/// Also report wrong answers that the sanitizer cannot explain; otherwise a report without findings would suggest that
/// the file is correct.
void judge_answers(const std::vector<Check>& checks, Inspected& inspected) {
    const auto failed = [](const Check& check) { return !check.skipped && check.verdict != Verdict::passed; };
    const auto first = std::ranges::find_if(checks, failed);
    inspected.passed = first == checks.end();
    if (inspected.passed) return;
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(checks, failed));
    const std::string datasets =
        count == 1 ? first->dataset : fmt::format("{} datasets, first on {}", format_count(count), first->dataset);
    const std::string what = first->failure ? first->failure->message : "the judge failed";
    inspected.wrong = fmt::format("It fails on {}: {}{}", datasets, what, what.ends_with('.') ? "" : ".");
    if (!first->failure) return;
    inspected.wrong_cause = first->failure->cause;
    inspected.wrong_hint = first->failure->hint;
}

void print_answers(const Inspected& inspected, bool clean, bool asking) {
    const int width = text_style(STDOUT_FILENO).width;
    if (inspected.passed && clean)
        fmt::print("No race, no access out of bounds, no memory read before it was written.\n");
    if (inspected.passed) return;
    fmt::print("{}", wrap(fmt::format("{}{} `make check` shows more.",
                                      clean ? "No race and no access out of bounds. " : "", inspected.wrong),
                          0, width));
    const Finding wrong{.cause = inspected.wrong_cause, .hint = inspected.wrong_hint};
    const std::string hint = asking ? ask_first(wrong).hint : wrong.hint;
    if (!hint.empty()) fmt::print("{}", wrap("Hint: " + hint, 4, width));
}

/// Format a cell, right-aligned; red if it is costly.
std::string cell(const std::string& text, int width, bool costly, const TextStyle& style) {
    const std::string padded = fmt::format("{:>{}}", text, width);
    return costly ? paint(padded, Colour::red, style) : padded;
}

/// Format a count: "812", "34k", "1.2M".
std::string short_count(std::uint64_t count) {
    const auto value = static_cast<double>(count);
    if (count < 10'000) return std::to_string(count);
    return count < 1'000'000 ? fmt::format("{:.0f}k", value / 1e3) : fmt::format("{:.1f}M", value / 1e6);
}

std::string one_decimal(const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : ""; }

std::string margin_words(const LineSummary& m, const TextStyle& style) {
    std::string words = cell(short_count(m.requests), 8, false, style);
    words += cell(fmt::format("{:.1f}", m.lanes), 6, m.few_lanes(), style);
    words +=
        cell(m.sectors ? fmt::format("{:.1f}/{:.1f}", *m.sectors, *m.fewest_sectors) : "", 10, m.many_sectors(), style);
    words += cell(one_decimal(m.passes), 7, m.many_passes(), style);
    return words + cell(one_decimal(m.clashes), 8, m.many_clashes(), style);
}

/// Choose the lines to show: as many of the most costly lines as fit on a screen, each with the lines around it.
std::set<int> choose_lines(const std::vector<LineSummary>& lines, const ModelledLines& modelled, int last_line) {
    constexpr double min_share = 0.05;
    std::vector<std::pair<double, int>> by_cost;
    for (const LineSummary& entry : lines) by_cost.emplace_back(entry.heat, entry.line);
    for (const ModelledLine& entry : modelled.shares)
        if (entry.share >= min_share) by_cost.emplace_back(entry.share, entry.line);
    std::ranges::stable_sort(by_cost, std::greater<>(), &std::pair<double, int>::first);
    std::set<int> chosen;
    for (const auto& [cost, line] : by_cost) {
        std::set<int> with = chosen;
        for (int near = std::max(1, line - 1); near <= std::min(line + 1, last_line); ++near) with.insert(near);
        if (with.size() <= max_lines) chosen = std::move(with);
    }
    return chosen;
}

/// Replace tabs by spaces, cut the line to a number of columns, and make it printable.
std::string fit(std::string line, std::size_t columns) {
    for (std::size_t tab; (tab = line.find('\t')) != std::string::npos;) line.replace(tab, 1, "    ");
    return line.size() <= columns ? to_printable(line) : to_printable(line.substr(0, columns - 1)) + "…";
}

/// Format the line's modelled share for a column of this width, in whole percent; blank if it rounds to 0.
std::string share_words(const ModelledLines& modelled, int line, int width) {
    const auto iterator = std::ranges::find(modelled.shares, line, &ModelledLine::line);
    const bool is_known = iterator != modelled.shares.end() && iterator->share >= 0.005;
    return fmt::format("{:>{}}", is_known ? fmt::format("{:.0f}%", 100 * iterator->share) : "", width);
}

/// Explain the column of modelled shares, or why it is missing.
std::string modelled_words(const ModelledLines& modelled) {
    if (!modelled.why_not.empty()) return fmt::format(" No modelled shares: {}.", modelled.why_not);
    if (modelled.shares.empty()) return "";
    return fmt::format(
        " modelled: the line's share of the warps' time on the {} with the dataset {}; this column is modelled, the "
        "others are counted. A warp's wait for a value counts for the line that needs the value.",
        modelled.gpu, modelled.dataset);
}

void print_source(const std::vector<LineSummary>& lines, const ModelledLines& modelled,
                  const std::vector<std::string>& source) {
    if (lines.empty()) return;
    const TextStyle style = text_style(STDOUT_FILENO);
    const int shares = modelled.shares.empty() ? 0 : share_width;
    fmt::print("\n{:>8}{:>6}{:>10}{:>7}{:>8}{:>{}} line\n", "requests", "lanes", "sectors", "passes", "clashes",
               shares ? "modelled" : "", shares);
    const std::set<int> chosen = choose_lines(lines, modelled, static_cast<int>(source.size()));
    int before = 0;
    for (const int line : chosen) {
        if (before && line != before + 1) fmt::print("{:>{}}\n", "...", counts_width + shares + 5);
        before = line;
        const auto margin =
            std::ranges::find_if(lines, [&](const LineSummary& summary) { return summary.line == line; });
        const std::string words =
            (margin == lines.end() ? std::string(counts_width, ' ') : margin_words(*margin, style)) +
            share_words(modelled, line, shares);
        const auto room = static_cast<std::size_t>(std::max(20, style.width - counts_width - shares - 8));
        const bool is_in_source = static_cast<std::size_t>(line) <= source.size();
        fmt::print("{}{:>5} | {}\n", words, line,
                   is_in_source ? fit(source[static_cast<std::size_t>(line) - 1], room) : "");
    }
    const auto omitted =
        std::ranges::count_if(lines, [&](const LineSummary& summary) { return !chosen.contains(summary.line); });
    if (omitted > 0)
        fmt::print("Not shown: {} of lower cost.\n", format_plural(static_cast<std::uint64_t>(omitted), "line"));
    fmt::print("{}", wrap("A request is an access of a whole warp. lanes: how many of its 32 take part. sectors: "
                          "of 32 bytes of device memory, and the possible minimum. passes: over the banks of shared "
                          "memory, or addresses of constants; 1 is best. clashes: lanes whose atomics go to one "
                          "address." +
                              modelled_words(modelled),
                          0, style.width));
}

void print_kernels(const std::vector<KernelShape>& kernels, const Gpu& gpu) {
    const int width = text_style(STDOUT_FILENO).width;
    if (!kernels.empty()) fmt::print("\n");
    for (std::size_t i = 0; i < kernels.size() && i < max_shapes_printed; ++i)
        fmt::print("{}", wrap(fmt::format("{}: {}.", kernels[i].kernel, occupancy_words(kernels[i], gpu)), 0, width));
    if (kernels.size() > max_shapes_printed)
        fmt::print("... and {}\n", format_plural(kernels.size() - max_shapes_printed, "more launch shape"));
}

void print_limits(const std::vector<LimitOutcome>& limits) {
    for (const LimitOutcome& outcome : limits)
        if (!outcome.held()) fmt::print("{}", wrap(limit_words(outcome), 0, text_style(STDOUT_FILENO).width));
}

/// Print the ratio of the memory traffic that the stage requests to the traffic that it needs.
void print_traffic(const Counted& all) {
    const double bytes = device_bytes(all.accesses);
    if (all.minimum_bytes <= 0 || bytes <= 0) return;
    fmt::print("{}", wrap(fmt::format("Device memory: kernels request {} in sectors of 32 bytes, {} what the stage has "
                                      "to move ({}). Caches serve some of it.",
                                      format_bytes(bytes), format_factor(bytes / all.minimum_bytes),
                                      format_bytes(all.minimum_bytes)),
                          0, text_style(STDOUT_FILENO).width));
}

/// Return the question about the first finding or, if there is none, about the wrong outputs.
std::string_view first_question(const Inspected& inspected) {
    const Finding* serious = first_serious(inspected.findings);
    if (!serious && !inspected.findings.empty()) serious = &inspected.findings.front();
    return question_about(serious ? serious->cause : inspected.wrong_cause);
}

/// Write LAB-STAGE.json, from which the HTML page is made, to BUILD/inspect or --report-dir, and a copy to the path in
/// --json. Add the result to the journal if the student's own file was inspected on all datasets.
void keep(const Inspected& inspected, const ModelledLines& modelled, const Report& report, const Source& source,
          const Options& options) {
    Record result;
    result.kind = Record::Kind::inspection;
    result.time = report.time;
    result.lab = inspected.lab;
    result.stage = inspected.stage;
    result.inspection = describe_inspection(inspected);
    result.inspection->question = first_question(inspected);
    result.inspection->modelled = modelled;
    const std::string text = to_json(*result.inspection).dump(1) + "\n";
    const auto folder = options.report_dir.empty() ? options.folders.build / "inspect" : options.report_dir;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / (inspected.lab + "-" + inspected.stage + ".json")) << text;
    if (!options.json.empty()) std::ofstream(options.json) << text;
    if (!is_work(options) || !options.dataset.empty()) return;
    result.inspection->source.clear();
    result.inspection->lines.clear();
    result.inspection->modelled = {};
    keep_or_print_error([&] {
        result.source_hash = source.hash();
        append_record(options.folders.work, result, source);
    });
}

/// Return the parts for the sanitizer: the dataset that was requested, or all that are small enough.
Parts parts_for(const StageRun& run, const Options& options) {
    std::vector<const Dataset*> all;
    for (const Dataset& dataset : run.lab.datasets) {
        if (dataset.name == options.dataset) return {{&dataset}};
        all.push_back(&dataset);
    }
    return split_small(run, all);
}

/// Return the names of the stage's public datasets that the sanitizer could inspect but does not.
std::vector<std::string> list_not_inspected(const Parts& parts, const StageRun& run) {
    std::set<std::string> inspected;
    for (const auto& part : parts)
        for (const Dataset* dataset : part) inspected.insert(dataset->name);
    std::vector<std::string> names;
    for (const Dataset& dataset : run.lab.datasets)
        if (dataset.uses.check && dataset.applies_to(run.stage) && why_not_on_this_backend(run, dataset).empty() &&
            !inspected.contains(dataset.name))
            names.push_back(dataset.name);
    return names;
}

void print_not_inspected(const std::vector<std::string>& names) {
    if (names.empty()) return;
    fmt::print("{}", wrap(fmt::format("Not inspected: {} (too large; DATASET=NAME inspects a single dataset).",
                                      fmt::join(names, ", ")),
                          0, text_style(STDOUT_FILENO).width));
}

/// Return the names of the datasets that were not run because a call on an earlier dataset did not end.
std::vector<std::string> list_not_run(const Parts& parts, const Sanitized& sanitized) {
    std::vector<std::string> names;
    for (const auto& part : parts)
        for (const Dataset* dataset : part)
            if (std::ranges::find(sanitized.checks, dataset->name, &Check::dataset) == sanitized.checks.end())
                names.push_back(dataset->name);
    return names;
}

void print_not_run(const std::vector<std::string>& names) {
    if (names.empty()) return;
    fmt::print("{}",
               wrap(fmt::format("Not run after that: {}", fmt::join(names, ", ")), 0, text_style(STDOUT_FILENO).width));
}

int print_compilation(const Compilation& compilation, int width) {
    const auto& failure = compilation.failure;
    fmt::print("{}{}", to_printable(compilation.log),
               wrap(failure ? failure->message : "It does not compile.", 0, width));
    return compilation.verdict == Verdict::failed ? 1 : 2;
}

/// Model each line's share of the time if nothing is wrong with the file and all datasets were inspected.
ModelledLines model_lines(Judge& judge, const Inspected& inspected, const Stage& stage, const Source& source,
                          const Options& options) {
    if (!inspected.passed || first_serious(inspected.findings) || !options.dataset.empty()) return {};
    try {
        return Modeller(judge, judge.lab(inspected.lab), options, SandboxLevel::none).lines(stage, source);
    } catch (const UsageError& unknown_gpu) {
        return {.why_not = fmt::format("the model does not know the GPU {}", options.gpu)};
    }
}

/// Print everything except the source.
void print_results(const Inspected& inspected, const std::string& file, const Stage& stage, const std::string& log,
                   bool asking, const std::vector<std::string>& not_inspected,
                   const std::vector<std::string>& not_run) {
    fmt::print("{}/{} under the sanitizer on {} (cpu backend)\n", inspected.lab, stage.id,
               format_plural(inspected.datasets.size(), "dataset"));
    print_not_inspected(not_inspected);
    print_findings(inspected, file, asking);
    if (!log.empty()) fmt::print("Compiler output:\n{}", to_printable(log));
    print_answers(inspected, first_serious(inspected.findings) == nullptr, asking);
    print_not_run(not_run);
    print_limits(inspected.limits);
    print_kernels(inspected.kernels, inspected.gpu);
    print_traffic(inspected.all);
    std::fflush(stdout);
}

/// Return the same exit status as `check`, for which a count above the stage's limit is only a note.
int exit_status(const Inspected& inspected, const std::vector<Check>& checks) {
    if (first_serious(inspected.findings)) return 1;
    if (inspected.passed) return 0;
    const auto is_error = [](const Check& check) { return !check.skipped && check.verdict == Verdict::error; };
    return std::ranges::any_of(checks, is_error) ? 2 : 1;
}

}  // namespace

int inspect(const Options& options) {
    Judge judge(options.folders, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    check_names(lab, options, Backend::cpu);
    const Gpu& gpu = options.gpu.empty() ? default_gpu() : find_gpu(options.gpu);
    if (is_work(options)) start_lab(lab, judge.folders());
    const Source source = options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    const Judge::Ready ready = judge.make_ready(lab, stage, source, {});
    if (!ready.run) return print_compilation(ready.compilation, text_style(STDOUT_FILENO).width);
    const Parts parts = parts_for(*ready.run, options);
    if (parts.empty())
        throw UsageError(fmt::format(
            "No dataset of {} is small enough for the sanitizer; DATASET=NAME inspects any dataset.", lab.name));
    const Sanitized sanitized = run_sanitizer(*ready.run, {.parts = parts, .source = source, .counts_requests = true});
    Inspected inspected{lab.name, stage.id, source.file().filename().string(), lines_of(source), gpu};
    inspected.datasets = sanitized.counted;
    inspected.findings = sanitized.findings;
    judge_answers(with_explanations(sanitized.checks, inspected.findings, ready.compilation), inspected);
    inspected.all = all_of(inspected.datasets);
    inspected.counts = add_up_counts(*ready.run, inspected.all.accesses);
    std::map<std::string, KernelResources> resources;
    if (!options.no_nvcc) resources = judge.resources(lab, stage, source, gpu.architecture());
    inspected.kernels = describe_kernels(inspected.all.launches, resources, gpu);
    if (inspected.passed) inspected.limits = compare_with_limits(stage, inspected.datasets);
    inspected.lines = summarise_lines(inspected.counts);
    print_results(inspected, source.file().lexically_normal().string(), stage, ready.compilation.log,
                  asks_first(lab, options),
                  options.dataset.empty() ? list_not_inspected(parts, *ready.run) : std::vector<std::string>(),
                  list_not_run(parts, sanitized));
    Console console;
    console.show("modelling each line's share of the time");
    const ModelledLines modelled =
        model_lines(judge, inspected, stage, source, options);  // takes seconds if inputs are large
    console.clear();
    print_source(inspected.lines, modelled, inspected.source);
    keep(inspected, modelled, judge.begin_report("inspect", lab, {}, options.tree), source, options);
    return exit_status(inspected, sanitized.checks);
}

}  // namespace warplab
