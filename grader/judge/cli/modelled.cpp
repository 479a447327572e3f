#include "grader/judge/cli/modelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <variant>

#include "grader/common/text.h"
#include "grader/judge/compile/compile.h"
#include "grader/judge/predict/predict.h"
#include "grader/judge/present/console.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

constexpr auto gpu_by_default = "h200";

/// Return the smallest timed dataset that counts: large ones take memory and time, and tell no more.
const Dataset* dataset_to_model(const Lab& lab, const Stage& stage, const Options& options) {
    const Dataset* smallest = nullptr;
    const auto size = [&](const Dataset& dataset) {
        double product = 1;
        for (const auto& [name, value] : dataset.parameters)
            if (const auto* whole = std::get_if<std::int64_t>(&value))
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

std::string limit_words(const predict::Limit& limit) {
    const std::string where = limit.line > 0 ? fmt::format(", most of it in line {}", limit.line) : "";
    if (!limit.resource)
        return fmt::format(
            "No part of the GPU is busy for more than {:.0f}% of the time: warps wait for their own results. Can "
            "more of them run at the same time, or can each have more loads under way?",
            100 * limit.busy);
    return fmt::format("The limit is {}, which is busy for {:.0f}% of the time{}.",
                       predict::resource_name(*limit.resource), 100 * limit.busy, where);
}

std::string words_for(const predict::Prediction& own, const std::optional<predict::Prediction>& reference,
                      const Dataset& dataset, int iterations, const predict::Machine& machine) {
    if (!own.why_not.empty()) return fmt::format("No modelled time for {}: {}.", dataset.name, own.why_not);
    std::string words = fmt::format(
        "{}: {} for {} iterations, modelled ({} to {}).", dataset.name, format_seconds(own.seconds), iterations,
        format_seconds(own.seconds / machine.spread), format_seconds(own.seconds * machine.spread));
    if (reference && reference->seconds > 0)
        words += fmt::format(" The reference solution's modelled time is {}: yours is {:.2f} times as long.",
                             format_seconds(reference->seconds), own.seconds / reference->seconds);
    words += " " + limit_words(own.limit);
    if (own.wait_s > 0.2 * own.seconds)
        words += fmt::format(" Outside of kernels, launches and copies take {}.", format_seconds(own.wait_s));
    return words;
}

}  // namespace

predict::Machine modelled_gpu(const Options& options) {
    std::string name = options.gpu.empty() ? gpu_by_default : options.gpu;
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return predict::read_machine(options.folders.root / "grader/judge/predict/gpus", name);
}

void print_modelled_times(Judge& judge, const Lab& lab, const Report& report, const Options& options,
                          const predict::Machine& machine) {
    if (std::ranges::none_of(report.stages, [](const auto& stage) { return stage.verdict == Verdict::passed; })) return;
    const TextStyle style = text_style(STDOUT_FILENO);
    fmt::print("{}", wrap(fmt::format("Modelled for an {}, which this machine does not have. A modelled time is an "
                                      "estimate and gives no points. It is computed from some of your warps.",
                                      machine.name),
                          0, style.width));
    for (const StageReport& done : report.stages) {
        const Stage& stage = lab.stage(done.stage);
        const Dataset* const dataset = dataset_to_model(lab, stage, options);
        if (done.verdict != Verdict::passed || !dataset) continue;
        Console console;
        console.show(fmt::format("{}/{}: tracing {} …", lab.name, stage.id, dataset->name));
        const auto model = [&](const fs::path& source) {
            return predict::model(predict::record(judge, lab, stage, source, *dataset, machine, SandboxLevel::none),
                                  machine);
        };
        const predict::Prediction own = model(done.source);
        console.show(fmt::format("{}/{}: tracing the reference solution on {} …", lab.name, stage.id, dataset->name));
        const fs::path solution = lab.root / "solutions" / lab.name / (stage.id + ".cu");
        std::optional<predict::Prediction> reference;  // a student's kit has no solutions
        if (fs::exists(solution)) reference = model(solution);
        console.clear();
        fmt::print("{}\n{}", stage.id,
                   wrap(words_for(own, reference, *dataset, lab.benchmark.iterations, machine), 2, style.width));
    }
}

}  // namespace warplab
