// Compiles a stage with every value of its tunables, times each variant, and writes the times as described in
// schema/sweep.schema.json. grader.python.journal.sweep plots them.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/common/hash.h"
#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/cli/judging.h"
#include "grader/judge/cli/records.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/compile/source.h"
#include "grader/judge/judge.h"
#include "grader/judge/machine.h"
#include "grader/judge/present/console.h"

namespace warplab {
namespace {

const Effort sweep_effort{.rounds = {.min = 1, .max = 1},
                          .rounds_of_short_calls = {.min = 1, .max = 1},
                          .samples = 5,
                          .sample_s = 0.25,
                          .total_s = 4,
                          .verify_s = 1};
constexpr std::size_t max_combinations = 40;  // if there are more, one tunable is varied at a time

using Choice = std::vector<std::int64_t>;  // a value for each tunable

std::vector<Choice> all_combinations(const std::vector<Tunable>& tunables) {
    std::vector<Choice> choices = {{}};
    for (const Tunable& tunable : tunables) {
        std::vector<Choice> longer;
        for (const Choice& choice : choices)
            for (const std::int64_t value : tunable.values) {
                longer.push_back(choice);
                longer.back().push_back(value);
            }
        choices = std::move(longer);
    }
    return choices;
}

std::vector<Choice> one_at_a_time(const std::vector<Tunable>& tunables) {
    Choice defaults;
    for (const Tunable& tunable : tunables) defaults.push_back(tunable.default_value);
    std::vector<Choice> choices = {defaults};
    for (std::size_t i = 0; i < tunables.size(); ++i)
        for (const std::int64_t value : tunables[i].values) {
            if (value == tunables[i].default_value) continue;
            choices.push_back(defaults);
            choices.back()[i] = value;
        }
    return choices;
}

std::vector<Choice> list_choices(const std::vector<Tunable>& tunables) {
    std::size_t all = 1;
    for (const Tunable& tunable : tunables) all *= tunable.values.size();
    return all <= max_combinations ? all_combinations(tunables) : one_at_a_time(tunables);
}

const Dataset& dataset_to_time(const Lab& lab, const Stage& stage, const Options& options, Backend backend) {
    if (!options.dataset.empty()) return lab.dataset(options.dataset);
    for (const Dataset& dataset : lab.datasets)
        if (dataset.uses.bench && dataset.applies_to(stage) && !(backend == Backend::cpu && dataset.uses.cuda_only))
            return dataset;
    throw UsageError(fmt::format("{} has no dataset to time on this backend.", lab.name));
}

struct Point : SweepPoint {
    double bound_s = 0;
};

Point time_choice(Judge& judge, const Lab& lab, const Stage& stage, const Dataset& dataset, const Choice& choice,
                  const Source& source, const Progress& progress) {
    Point point;
    Task task{.fast = true};
    for (std::size_t i = 0; i < choice.size(); ++i) {
        point.defines.emplace_back(stage.tunables[i].macro, choice[i]);
        task.defines.push_back(fmt::format("{}={}", stage.tunables[i].macro, choice[i]));
    }
    progress(GradingPhase::compile, "compiling");
    Judge::Ready ready = judge.make_ready(lab, stage, source, task);
    if (!ready.run) {
        point.failure = ready.compilation.failure ? ready.compilation.failure->message : "does not compile";
        return point;
    }
    const Measured measured = measure(*ready.run, nullptr, dataset, judge.bandwidth(), sweep_effort, {}, progress);
    if (measured.failure || measured.error) {
        point.failure = (measured.failure ? measured.failure : measured.error)->message;
        return point;
    }
    const Measurement& m = measured.measurement;
    point.median_s = m.median_s;
    point.low_s = *std::ranges::min_element(m.samples_s);
    point.high_s = *std::ranges::max_element(m.samples_s);
    point.bound_s = m.bound_s;
    return point;
}

std::string choice_text(const Stage& stage, const Choice& choice) {
    std::string text;
    for (std::size_t i = 0; i < choice.size(); ++i)
        text += fmt::format("{}{}={}", i ? " " : "", stage.tunables[i].macro, choice[i]);
    return text;
}

void print_points(const std::vector<Point>& points) {
    const Point* best = nullptr;
    for (const Point& point : points)
        if (point.failure.empty() && (!best || point.median_s < best->median_s)) best = &point;
    for (const Point& point : points) {
        std::string name;
        for (const auto& [macro, value] : point.defines)
            name += fmt::format("{}{}={}", name.empty() ? "" : " ", macro, value);
        if (!point.failure.empty())
            fmt::print("  {:<40} {}\n", name, to_printable(point.failure));
        else
            fmt::print("  {:<40} {:>10}  {:.2f}x{}\n", name, format_seconds(point.median_s),
                       point.median_s / best->median_s, &point == best ? "  best" : "");
    }
}

Sweep make_sweep(const Report& report, const Lab& lab, const Stage& stage, const std::string& source_hash,
                 const Dataset& dataset, const std::vector<Point>& points) {
    Sweep sweep;
    sweep.lab = lab.name;
    sweep.iterations = lab.benchmark.iterations;
    sweep.stage = stage.id;
    sweep.backend = report.backend;
    sweep.tree = report.tree;
    sweep.source_hash = source_hash;
    sweep.dataset = dataset.name;
    sweep.time = report.time;
    sweep.warplab = report.warplab;
    sweep.gpu = report.machine.gpu;
    sweep.driver = report.machine.driver;
    sweep.bound_s = points.empty() ? 0 : points.front().bound_s;
    sweep.points.assign(points.begin(), points.end());
    return sweep;
}

/// Throw UsageError if there is nothing to sweep, or no GPU to time on.
void require_sweepable(const Lab& lab, const Stage& stage, Backend backend, const Options& options) {
    if (stage.tunables.empty())
        throw UsageError(fmt::format("{}/{} declares no tunables in labs/{}/lab.json, so there is nothing to sweep.",
                                     lab.name, stage.id, lab.name));
    if (backend == Backend::cpu && !options.force)
        throw UsageError(
            fmt::format("A sweep compares times, and there is no GPU to time on ({}). FORCE=1 sweeps on the CPU "
                        "backend anyway, which says nothing about a GPU.",
                        why_no_gpu()));
}

std::vector<Point> time_choices(Judge& judge, const Lab& lab, const Stage& stage, const Dataset& dataset,
                                const std::vector<Choice>& choices, const Source& source) {
    std::vector<Point> points;
    Console console;
    for (const Choice& choice : choices)
        points.push_back(
            time_choice(judge, lab, stage, dataset, choice, source, [&](GradingPhase, const std::string& what) {
                console.show(fmt::format("{} of {}: {}: {} …", points.size() + 1, choices.size(),
                                         choice_text(stage, choice), what));
            }));
    return points;
}

Record make_record(const Report& report, const Stage& stage, const std::string& source_hash, Sweep swept) {
    Record record;
    record.kind = Record::Kind::sweep;
    record.time = report.time;
    record.lab = report.lab;
    record.stage = stage.id;
    record.source_hash = source_hash;
    record.backend = report.backend;
    record.machine = report.machine;
    record.sweep = std::move(swept);
    return record;
}

}  // namespace

int sweep(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    require_sweepable(lab, stage, judge.backend(), options);
    if (is_work(options)) start_lab(lab, judge.folders());
    const Dataset& dataset = dataset_to_time(lab, stage, options, judge.backend());
    const Source source = options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    const std::string source_hash = source.hash();
    const Report report =
        judge.begin_report("sweep", lab, Task{}, options.source.empty() ? options.tree : options.source.string());
    const std::vector<Choice> choices = list_choices(stage.tunables);
    fmt::print("{}/{} on {} ({} backend): {}, seconds for {} iterations\n", lab.name, stage.id, dataset.name,
               backend_name(judge.backend()), format_plural(choices.size(), "choice"), lab.benchmark.iterations);
    const std::vector<Point> points = time_choices(judge, lab, stage, dataset, choices, source);
    print_points(points);
    const auto file =
        options.json.empty() ? options.folders.build / "sweep" / (lab.name + "-" + stage.id + ".json") : options.json;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
    const Record result =
        make_record(report, stage, source_hash, make_sweep(report, lab, stage, source_hash, dataset, points));
    std::ofstream(file) << to_json(*result.sweep).dump(2) << "\n";
    if (is_work(options)) keep_or_print_error([&] { append_record(options.folders.work, result, source); });
    return std::ranges::all_of(points, [](const Point& p) { return p.failure.empty(); }) ? 0 : 1;
}

}  // namespace warplab
