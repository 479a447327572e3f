// Times each lab's peers (library functions that solve the same problem, or a problem of the same size) together with a
// stage's reference solution. Writes {"<lab>": [{"name", "stage", "dataset", "iterations", "median_s", "ours_s",
// "ratio": {"median", "low", "high"}}]}. "ours_s" is the reference's time; "ratio" is the peer's time divided by it,
// from samples in alternation.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/common/text.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/judge.h"
#include "grader/judge/machine.h"
#include "grader/judge/present/console.h"

namespace warplab {
namespace {

const Effort unchecked{.total_s = 20, .verify_s = 0};  // a peer may use another type, so its outputs are not verified

std::unique_ptr<StageRun> ready_or_throw(Judge& judge, const Lab& lab, const Stage& stage,
                                         const std::filesystem::path& source, const Task& task) {
    Judge::Ready ready = judge.make_ready(lab, stage, source, task);
    if (ready.run) return std::move(ready.run);
    const auto& failure = ready.compilation.failure;
    throw std::runtime_error(fmt::format("{} does not compile: {} {}", source.string(), failure ? failure->message : "",
                                         ready.compilation.log));
}

Json time_peer(Judge& judge, const Lab& lab, const Peer& peer, const Dataset& dataset, const Progress& progress) {
    const Stage& stage = lab.stage(peer.stage);
    const auto reference = ready_or_throw(judge, lab, stage, judge.source_of(lab, stage, "solutions"), {});
    const auto peer_run =
        ready_or_throw(judge, lab, stage, lab.folder() / "peers" / (peer.name + ".cu"), {.libraries = peer.libraries});
    const Measured measured = measure(*peer_run, reference.get(), dataset, judge.bandwidth(), unchecked, {}, progress);
    if (measured.failure || measured.error)
        throw std::runtime_error(fmt::format("{} on {}: {}", peer.title, dataset.name,
                                             (measured.failure ? measured.failure : measured.error)->message));
    const Measurement& m = measured.measurement;
    const Interval& ratio = *m.reference_ratio;
    return {{"name", peer.title},
            {"stage", stage.id},
            {"dataset", dataset.name},
            {"iterations", m.iterations},
            {"median_s", m.median_s},
            {"ours_s", *m.reference_s},
            {"ratio", {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}}}};
}

}  // namespace

int peers(const Options& options) {
    if (!why_no_gpu().empty())
        throw UsageError(fmt::format("Peers are timed on a GPU, and there is none: {}.", why_no_gpu()));
    Judge judge(options.folders, Backend::cuda);
    Json all = Json::object();
    for (const std::string& name : requested_labs(options)) {
        const Lab& lab = judge.lab(name);
        for (const Peer& peer : lab.peers)
            for (const Dataset& dataset : lab.datasets) {
                if (!dataset.uses.bench || !dataset.applies_to(lab.stage(peer.stage))) continue;
                Console console;
                const Json timed = time_peer(judge, lab, peer, dataset, [&](GradingPhase, const std::string& what) {
                    console.show(fmt::format("{}, {}: {} …", peer.title, dataset.name, what));
                });
                console.clear();
                all[name].push_back(timed);
                fmt::print(
                    "{:<14} {:<14} {} {:>10}, {} {:>10} for {} iterations: {:.3f} times the reference ({:.3f} to "
                    "{:.3f})\n",
                    name, dataset.name, peer.title, format_seconds(timed["median_s"]), peer.stage,
                    format_seconds(timed["ours_s"]), timed["iterations"].get<int>(),
                    timed["ratio"]["median"].get<double>(), timed["ratio"]["low"].get<double>(),
                    timed["ratio"]["high"].get<double>());
            }
    }
    const auto file = options.json.empty() ? options.folders.build / "peers.json" : options.json;
    std::ofstream(file) << all.dump(1) << "\n";
    return 0;
}

}  // namespace warplab
