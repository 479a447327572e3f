#include "grader/judge/predict/predict.h"

#include <fmt/format.h>

#include <chrono>

#include "grader/judge/cli/verbs.h"
#include "grader/judge/lab/oracle.h"

namespace warplab {

int predict_time(const Options& options) {
    Judge judge(options.folders, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    const auto machine =
        predict::read_machine(options.folders.root / "grader/judge/predict/gpus", options.gpu.empty() ? "h200" : options.gpu);
    const std::filesystem::path source =
        options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    for (const Dataset& dataset : lab.datasets) {
        if (!dataset.uses.bench || !dataset.applies_to(stage)) continue;
        if (!options.dataset.empty() ? dataset.name != options.dataset : dataset.uses.unscored) continue;
        const auto begin = std::chrono::steady_clock::now();
        const auto found = predict::predict(judge, lab, stage, source, dataset, machine, SandboxLevel::none);
        const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (!found.why_not.empty()) {
            fmt::print("{} {} {}: {} {}\n", lab.name, stage.id, dataset.name, found.why_not,
                       found.failure ? found.failure->message : "");
            continue;
        }
        fmt::print("{} {} {} {:.3f} us in {:.1f} s, unmatched {}\n", lab.name, stage.id, dataset.name,
                   found.time.seconds / found.iterations * 1e6, wall_s, found.unmatched);
        for (const auto& [kernel, of] : found.time.kernels) {
            fmt::print("    {} x{} {:.3f} us, {} blocks at once:", kernel, of.launches, of.seconds * 1e6, of.last.blocks_at_once);
            for (std::size_t r = 0; r < predict::resource_count; ++r)
                fmt::print(" {} {:.0f}%", predict::resource_name(static_cast<predict::Resource>(r)),
                           100 * of.last.busy[r] / of.last.clocks);
            fmt::print("\n");
            for (const auto& [line, busy] : of.last.busy_of_line) {
                fmt::print("        line {}:", line);
                for (std::size_t r = 0; r < predict::resource_count; ++r)
                    fmt::print(" {} {:.0f}%", predict::resource_name(static_cast<predict::Resource>(r)),
                               100 * busy[r] / of.last.clocks);
                fmt::print("\n");
            }
        }
    }
    return 0;
}

}  // namespace warplab
