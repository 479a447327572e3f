#include "grader/judge/sanitizer/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <numeric>
#include <utility>

#include "grader/judge/sanitizer/findings.h"

namespace warplab {
namespace {

constexpr double max_small_bytes = 1 << 20;   // the maximum of a dataset's bytes times its iterations
constexpr double one_part_bytes = 256 << 10;  // up to this sum, a second process takes more time than it saves
constexpr double slow_s = 4;

/// Return the bytes of the dataset's arrays, times its iterations.
double bytes_of(const StageRun& run, const Dataset& dataset) {
    const Problem problem = run.generate(dataset, dataset.seed);
    double bytes = 0;
    for (const Array& array : problem.arrays) bytes += static_cast<double>(array.bytes());
    return bytes * std::max(1.0, run.oracle.cost(problem).iterations);
}

bool can_inspect(const StageRun& run, const Dataset& dataset) {
    return dataset.uses.check && !dataset.uses.cuda_only && dataset.applies_to(run.stage);
}

/// One process with the sanitizer, and its results.
struct Part {
    StageRun run;
    std::vector<Check> checks = {};
    std::vector<Counted> counted = {};
    bool ended_early = false;
};

StageRun copy_with_sanitizer(const StageRun& run) {
    StageRun copy{run.lab, run.stage, run.oracle, run.backend, run.runner, run.policy, run.device, run.host};
    copy.tool = run.tool;
    copy.environment = run.environment;
    copy.reference = run.reference;
    copy.make_fiber_runner = run.make_fiber_runner;
    copy.known_problems = run.known_problems;
    copy.sanitizer = Sanitizer::on;
    return copy;
}

/// Return the counts since the last call, for the dataset that ran in between.
Counted take_counts(StageRun& run, const Dataset& dataset) {
    const Problem problem = run.generate(dataset, dataset.seed);
    return {dataset.name, std::exchange(run.counts, {}), std::exchange(run.launches, {}),
            run.oracle.cost(problem).bound_bytes * static_cast<double>(std::exchange(run.calls, 0))};
}

/// Record a doubt if a passed dataset launches different kernels than without the sanitizer.
void compare_launches(StageRun& run, const Check& check, const LaunchDigests& expected) {
    const auto digests = std::exchange(run.launch_digests, {});
    const auto other = expected.find(check.dataset);
    if (other == expected.end() || check.verdict != Verdict::passed || other->second == digests || !run.doubt.empty())
        return;
    run.doubt =
        fmt::format("On {}, the program launches different kernels with the sanitizer than without.", check.dataset);
}

bool has_limits(const Stage& stage, const Dataset& dataset) {
    const auto belongs_to_dataset = [&](const CounterLimit& limit) { return limit.dataset == dataset.name; };
    return std::ranges::any_of(stage.counters, belongs_to_dataset);
}

bool stops_early(const StageRun& run, const Check& check, const SanitizerTask& task) {
    if (check.failure && check.failure->hangs) return true;
    if (task.stop == SanitizerTask::Stop::never) return false;
    if (!check.skipped && check.verdict != Verdict::passed && check.wall_s > slow_s) return true;
    return task.stop == SanitizerTask::Stop::when_found &&
           first_serious(explain_findings(run, task.source, run.findings, false));
}

void run_part(Part& part, const std::vector<const Dataset*>& datasets, const SanitizerTask& task,
              const std::atomic<bool>& stop) {
    StageRun& run = part.run;
    for (const Dataset* dataset : datasets) {
        if (stop || (task.cancelled && *task.cancelled)) break;
        task.doing("sanitizer: " + dataset->name);
        run.counts_requests = task.counts_requests || has_limits(run.stage, *dataset);
        const Check check = check_dataset(run, *dataset);
        if (task.stop == SanitizerTask::Stop::when_found)
            run.end_session();  // the end of the session delivers its findings
        part.counted.push_back(take_counts(run, *dataset));
        compare_launches(run, check, task.expected);
        part.checks.push_back(check);
        part.ended_early = stops_early(run, check, task);
        if (part.ended_early) break;
    }
    run.end_session();
}

/// Add a later part's results to an earlier part's.
void append(Part& to, Part& from) {
    std::move(from.checks.begin(), from.checks.end(), std::back_inserter(to.checks));
    std::move(from.counted.begin(), from.counted.end(), std::back_inserter(to.counted));
    StageRun& run = to.run;
    run.findings.insert(run.findings.end(), from.run.findings.begin(), from.run.findings.end());
    run.guards.merge(from.run.guards);
    run.output += from.run.output;
    if (run.doubt.empty()) run.doubt = from.run.doubt;
}

/// Run the parts at the same time. The result has the parts up to the first that ended early.
Part run_parts(const StageRun& run, SanitizerTask task) {
    std::mutex mutex;
    task.doing = [&mutex, doing = std::move(task.doing)](const std::string& what) {
        const std::lock_guard lock(mutex);
        doing(what);
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < task.parts.size(); ++i) {
        parts.push_back({copy_with_sanitizer(run)});
        parts.back().run.cancelled = task.cancelled;
    }
    std::atomic<bool> stop = false;
    std::vector<std::future<void>> later;
    for (std::size_t i = 1; i < parts.size(); ++i)
        later.push_back(std::async(std::launch::async, [&, i] { run_part(parts[i], task.parts[i], task, stop); }));
    Part all{copy_with_sanitizer(run)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == 0) run_part(parts[0], task.parts[0], task, stop);
        if (i > 0) later[i - 1].get();
        if (!stop) append(all, parts[i]);
        stop = stop || parts[i].ended_early;
    }
    return all;
}

}  // namespace

bool is_quick(const StageRun& run, const Dataset& dataset) {
    return can_inspect(run, dataset) && bytes_of(run, dataset) <= 16 * max_small_bytes;
}

Parts split_small(const StageRun& run, const std::vector<const Dataset*>& datasets) {
    std::vector<const Dataset*> small;
    std::vector<double> cost;
    for (const Dataset* dataset : datasets) {
        const double bytes = can_inspect(run, *dataset) ? bytes_of(run, *dataset) : 2 * max_small_bytes;
        if (bytes > max_small_bytes) continue;
        small.push_back(dataset);
        cost.push_back(bytes);
    }
    const double all = std::accumulate(cost.begin(), cost.end(), 0.0);
    std::size_t first = 0;
    if (all > one_part_bytes)
        for (double sum = 0; first < small.size() && sum + cost[first] / 2 < all / 2; ++first) sum += cost[first];
    Parts parts;
    for (auto [begin, end] : {std::pair{small.begin(), small.begin() + static_cast<std::ptrdiff_t>(first)},
                              std::pair{small.begin() + static_cast<std::ptrdiff_t>(first), small.end()}})
        if (begin != end) parts.emplace_back(begin, end);
    return parts;
}

Sanitized run_sanitizer(const StageRun& run, const SanitizerTask& task) {
    const auto begin = std::chrono::steady_clock::now();
    Part all = run_parts(run, task);
    const auto failed = [](const Check& check) { return !check.skipped && check.verdict != Verdict::passed; };
    const bool right = !task.outputs_failed && std::ranges::none_of(all.checks, failed);
    std::vector<Finding> findings = explain_findings(all.run, task.source, all.run.findings, right);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return {std::move(all.checks), std::move(all.counted), std::move(findings), all.run.doubt, wall.count()};
}

const Finding* first_serious(const std::vector<Finding>& findings) {
    const auto first = std::ranges::find_if(findings, [](const Finding& f) { return !f.note; });
    return first == findings.end() ? nullptr : &*first;
}

}  // namespace warplab
