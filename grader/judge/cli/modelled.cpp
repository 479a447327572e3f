#include "grader/judge/cli/modelled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "grader/common/hash.h"
#include "grader/common/json.h"
#include "grader/common/read_file.h"
#include "grader/common/text.h"
#include "grader/judge/bench/kept_numbers.h"
#include "grader/judge/compile/cache.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/compile/harness.h"
#include "grader/judge/compile/toolchain.h"
#include "grader/judge/present/console.h"
#include "grader/model/recipe.h"
#include "grader/model/score.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

/// Return the file with the constants of the GPU that is modelled.
fs::path gpu_file(const Options& options) {
    const fs::path folder = options.folders.root / "grader/judge/predict/gpus";
    std::string name = options.gpu.empty() ? predict::default_machine(folder) : options.gpu;
    std::erase_if(name, [](unsigned char letter) { return !std::isalnum(letter); });  // RTX 4090 is RTX4090
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return folder / (name + ".json");
}

/// Return the requested dataset or, by default, the scored timed dataset with the fewest elements: large ones take
/// memory and time, and do not show more.
const Dataset* dataset_to_model(const Lab& lab, const Stage& stage, const Options& options) {
    const Dataset* smallest = nullptr;
    const auto size = [&](const Dataset& dataset) {
        double product = 1;
        for (const auto& [name, value] : dataset.parameters)
            if (const auto* whole = std::get_if<std::int64_t>(&value); whole && name != "iterations")
                product *= static_cast<double>(std::max<std::int64_t>(1, *whole));
        return product;
    };
    for (const Dataset& dataset : lab.datasets) {
        if (!dataset.uses.bench || !dataset.applies_to(stage)) continue;
        if (!options.dataset.empty() ? dataset.name != options.dataset : dataset.uses.unscored) continue;
        if (!smallest || size(dataset) < size(*smallest)) smallest = &dataset;
    }
    return smallest;
}

fs::path solution_file(const Lab& lab, const Stage& stage) {
    return lab.root / "solutions" / lab.name / (stage.id + ".cu");
}

/// Return the times that the lab's file has for a student's kit, which lacks the solutions; zeros if it has none.
SolutionTimes read_solution_times(const Lab& lab, const Stage& stage, const Dataset& dataset, const fs::path& gpu) {
    std::ifstream file(lab.folder() / "modelled_times.json");
    const Json stages = Json::parse(file, nullptr, false);
    if (!stages.is_object() || !stages.contains(stage.id)) return {};
    const Json& entry = stages[stage.id];
    try {
        if (entry.at("dataset") != dataset.name) return {};
        const Json& seconds = entry.at("seconds").at(gpu.stem().string());
        return {seconds.at(0).get<double>(), seconds.at(1).is_null() ? 0 : seconds.at(1).get<double>()};
    } catch (const Json::exception&) {
        return {};
    }
}

std::string limit_words(const predict::Limit& limit) {
    const std::string place = limit.line > 0 ? fmt::format(", most of it in line {}", limit.line) : "";
    if (!limit.resource)
        return fmt::format(
            "No part of the GPU is busy for more than {:.0f}% of the modelled time: warps wait for their own results. "
            "Can more of them run at the same time, or can each have more loads in flight?",
            100 * limit.busy);
    return fmt::format("The limit is {}, which is busy for {:.0f}% of the modelled time{}.",
                       predict::resource_name(*limit.resource), 100 * limit.busy, place);
}

/// Describe the parts of the time that are not negligible.
std::string parts_words(const predict::Prediction& prediction) {
    constexpr double min_share = 0.05;
    std::vector<std::string> words;
    const auto add = [&](const char* name, double share, int line) {
        if (share < min_share) return;
        const std::string place = line > 0 ? fmt::format(" (most of it in line {})", line) : "";
        words.push_back(fmt::format("{} {:.0f}%{}", name, 100 * share, place));
    };
    for (const predict::Part& part : prediction.parts)
        add(part.resource ? predict::resource_name(*part.resource) : "waits that no other work hides", part.share,
            part.line);
    add("launches, copies and waits of the host", prediction.wait_s / prediction.seconds, 0);
    return fmt::format(" Shares of the modelled time, which overlap: {}.", fmt::join(words, ", "));
}

/// Return the waste as a phrase: "the bank conflicts".
const char* waste_words(predict::Waste waste) {
    switch (waste) {
        case predict::Waste::bank_conflicts:
            return "the bank conflicts";
        case predict::Waste::scattered_access:
            return "the scattered accesses";
        case predict::Waste::contention:
            return "the contention of the atomics";
        case predict::Waste::double_precision:
            return "the double precision";
    }
    return "";
}

std::string gain_words(const predict::Gains& gains, const predict::Machine& gpu) {
    std::string words;
    const auto add = [&](const std::string& change, double factor) {
        if (factor > 1) words += fmt::format(" {}: {:.1f} times as fast, modelled.", change, factor);
    };
    for (const auto& [change, factor] : gains.of_lines)
        add(fmt::format("Without {} in line {}", waste_words(change.waste), change.line), factor);
    add(fmt::format("If registers and shared memory allowed {} threads at once", gpu.threads), gains.full_occupancy);
    add("Without launches, copies and waits of the host", gains.without_host);
    return words;
}

/// Return how many blocks run at once, which decides how much work can hide a wait.
std::string occupancy_words(const predict::Limit& limit) {
    return fmt::format(" A multiprocessor runs at most {} {} of {} threads at once.", limit.blocks_at_once,
                       limit.blocks_at_once == 1 ? "block" : "blocks", limit.threads_per_block);
}

/// Return a comparison with the CPU's measured time. It calls the speedup modelled, because the GPU's time is.
std::string baseline_words(const ModelledTime& modelled) {
    const Interval& time = *modelled.time;
    return fmt::format(
        " The CPU baseline is {} for {} iterations, measured on one core of this machine. The speedup over it is {} "
        "({} to {}), modelled.",
        format_seconds(modelled.sequential_s), modelled.iterations, format_factor(modelled.sequential_s / time.median),
        format_factor(modelled.sequential_s / time.high), format_factor(modelled.sequential_s / time.low));
}

std::string words_for(const Modelled& modelled, const Stage& stage) {
    const predict::Prediction& prediction = modelled.prediction;
    const ModelledTime& result = modelled.time;
    if (!result.time) return fmt::format("No modelled time for {}: {}.", result.dataset, result.why_not);
    std::string words = fmt::format("{}: {} for {} iterations, modelled ({} to {}).", result.dataset,
                                    format_seconds(result.time->median), result.iterations,
                                    format_seconds(result.time->low), format_seconds(result.time->high));
    if (const auto range = modelled_points(stage.points.speed, result)) {
        const Interval& ratio = *result.reference_ratio;
        const std::string least = format_points(range->min), most = format_points(range->max);
        words += fmt::format(
            " The reference solution's modelled time is {}: yours is {:.2f} times as long ({:.2f} to {:.2f}). A GPU "
            "would give {} of {} speed points, modelled.",
            format_seconds(*result.reference_s), ratio.median, ratio.low, ratio.high,
            least == most ? most : least + " to " + most, format_points(stage.points.speed));
    }
    words += baseline_words(result) + " " + limit_words(prediction.limit) + parts_words(prediction) +
             occupancy_words(prediction.limit);
    if (modelled.recording.registers.empty())
        words += fmt::format(" nvcc did not report registers: the model assumes {} for each thread.",
                             predict::default_registers);
    return words;
}

}  // namespace

predict::Machine modelled_gpu(const Options& options) {
    const fs::path file = gpu_file(options);
    return predict::read_machine(file.parent_path(), file.stem());
}

Modeller::Modeller(Judge& judge, const Lab& lab, const Options& options, SandboxLevel sandbox)
    : judge_(judge), lab_(lab), options_(options), sandbox_(sandbox), machine_(modelled_gpu(options)) {}

const Problem& Modeller::problem(const Dataset& dataset) {
    if (!problem_ || problem_->first != dataset.name)
        problem_ = {dataset.name, judge_.oracle(lab_).generate(dataset, dataset.seed, 0)};
    return problem_->second;
}

predict::Recording Modeller::record(const Stage& stage, const Source& source, const Dataset& dataset) {
    try {
        return predict::record(judge_, lab_, stage, source, problem(dataset), machine_, sandbox_);
    } catch (const std::exception& error) {
        return {.why_not = fmt::format("the trace cannot be used ({})", error.what())};
    }
}

/// Return the modelled time of a stage's solution in seconds, or 0 if the solution cannot be modelled.
/// The time is kept in the build folder; otherwise, each submission would take two or three times as long.
double Modeller::solution_s(const Stage& stage, const Dataset& dataset) {
    if (const auto known = solutions_s_.find({stage.id, dataset.name}); known != solutions_s_.end())
        return known->second;
    const fs::path solution = solution_file(lab_, stage);
    const fs::path file = options_.folders.build / "cache" / "modelled_times.json";
    const fs::path cache = compilation::cache_folder(options_.folders.build, sandbox_);
    const std::string backend =
        compilation::harness_for(lab_.root, options_.folders.build, cache, Backend::cpu, lab_.name).hash;
    const std::string name =
        fmt::format("{}/{}/{}/{}", lab_.name, stage.id, dataset.name,
                    sha256(sha256_file("/proc/self/exe") + backend + compiler_version() +
                           sha256_file(gpu_file(options_)) + sha256_file(solution) +
                           format_parameters(dataset.parameters) + sha256_file(lab_.folder() / "oracle.cpp")));
    if (const auto kept = find_numbers(file, name, 1)) return kept->front();
    const double seconds = predict::model(record(stage, solution, dataset), machine_).seconds;
    return seconds > 0 ? keep_numbers(file, name, 1, [&] { return std::vector{seconds}; }).front() : 0;
}

SolutionTimes Modeller::solution_times(const Stage& stage, const Dataset& dataset) {
    if (!fs::exists(solution_file(lab_, stage))) return read_solution_times(lab_, stage, dataset, gpu_file(options_));
    SolutionTimes times{.reference_s = solution_s(stage, dataset)};
    const auto iterator = std::ranges::find(lab_.stages, stage.id, &Stage::id);
    if (times.reference_s > 0 && iterator != lab_.stages.begin() && dataset.applies_to(*(iterator - 1)))
        times.previous_s = solution_s(*(iterator - 1), dataset);
    return times;
}

void Modeller::compare(const Stage& stage, const Dataset& dataset, ModelledTime& time) {
    const auto [reference_s, previous_s] = solution_times(stage, dataset);
    if (reference_s <= 0) {
        time.why_not = "the reference solution, with which it would be compared, is missing or cannot be modelled";
        return;
    }
    time.reference_s = reference_s;
    time.reference_ratio = predict::ratio_interval(time.time->median / reference_s, machine_);
    if (previous_s > 0) time.previous_ratio = predict::ratio_interval(previous_s / reference_s, machine_);
    if (modelled_points(1, time)->min < 1)
        time.sequential_s = judge_.baseline(lab_, dataset).sequential_s * lab_.benchmark.iterations;
}

std::optional<Modelled> Modeller::model(const StageReport& report) {
    const Stage& stage = lab_.stage(report.stage);
    const Dataset* const dataset = dataset_to_model(lab_, stage, options_);
    if (!dataset || report.verdict == Verdict::error || outputs_failed(report)) return std::nullopt;
    Console console;
    console.show(fmt::format("{}/{}: modelling {} …", lab_.name, stage.id, dataset->name));
    const Source source(report.source);
    const bool is_same = source.hash() == report.source_hash;
    Modelled modelled{.recording = is_same ? record(stage, source, *dataset)
                                           : predict::Recording{.why_not = "the file changed while it was judged"}};
    modelled.prediction = predict::model(modelled.recording, machine_);
    ModelledTime& time = modelled.time;
    time.dataset = dataset->name;
    time.gpu = machine_.name;
    time.source = machine_.source;
    time.iterations = lab_.benchmark.iterations;
    time.why_not = modelled.prediction.why_not;
    if (!time.why_not.empty()) return modelled;
    const double seconds = modelled.prediction.seconds;
    const fs::path solution = solution_file(lab_, stage);
    if (fs::exists(solution) && read_file(solution) == source.text())
        solutions_s_.try_emplace({stage.id, dataset->name}, seconds);  // so that the solution is not traced again
    time.time = Interval{seconds, seconds / machine_.spread, seconds * machine_.spread};
    compare(stage, *dataset, time);
    return modelled;
}

void Modeller::add_score(StageReport& report) {
    const auto modelled = model(report);
    if (!modelled) return;
    report.modelled_time = modelled->time;
    if (report.score) report.score = score_stage(lab_.stage(report.stage), report);
}

void Modeller::add_time(StageReport& report) {
    if (report.verdict != Verdict::passed) return;
    auto modelled = model(report);
    if (!modelled) return;
    ModelledTime& time = modelled->time;
    std::string gains;
    if (time.time) {
        time.sequential_s = judge_.baseline(lab_, lab_.dataset(time.dataset), &problem_->second).sequential_s *
                            lab_.benchmark.iterations;
        gains = gain_words(predict::try_changes(modelled->recording, machine_, modelled->prediction), machine_);
    }
    texts_.emplace_back(report.stage, words_for(*modelled, lab_.stage(report.stage)) + gains);
    report.modelled_time = time;
}

void Modeller::print() const {
    if (texts_.empty()) return;
    const TextStyle style = text_style(STDOUT_FILENO);
    fmt::print(
        "{}",
        wrap(fmt::format("Modelled for a GPU that this machine does not have: {}. A modelled time is an "
                         "estimate. It is computed from some of your warps and from g++'s instructions. Constants of "
                         "this GPU: {}.",
                         machine_.name, machine_.source),
             0, style.width));
    for (const auto& [stage, words] : texts_) fmt::print("{}\n{}", stage, wrap(words, 2, style.width));
}

ModelledLines Modeller::lines(const Stage& stage, const Source& source) {
    const Dataset* const dataset = dataset_to_model(lab_, stage, options_);
    if (!dataset) return {};
    const predict::Prediction prediction = predict::model(record(stage, source, *dataset), machine_);
    ModelledLines lines{.gpu = machine_.name, .dataset = dataset->name, .why_not = prediction.why_not};
    for (const auto& [line, share] : prediction.lines)
        if (line > 0) lines.shares.push_back({line, share});
    return lines;
}

}  // namespace warplab
