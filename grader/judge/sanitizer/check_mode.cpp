#include "grader/judge/sanitizer/check_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <utility>

#include "grader/judge/sanitizer/findings.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

constexpr double most_bytes = 1 << 20;  // the maximum of a dataset's bytes times its iterations
constexpr double slow_s = 4;            // if a dataset failed after this long, the others would take as long

bool is_serious(const Finding& found) { return !found.note; }

bool any_serious(const std::vector<Finding>& found) { return std::any_of(found.begin(), found.end(), is_serious); }

/// Return the bytes of the dataset's arrays, times its iterations.
double bytes_of(const StageRun& run, const Dataset& dataset) {
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    double bytes = 0;
    for (const Array& array : problem.arrays) bytes += static_cast<double>(array.bytes());
    return bytes * std::max(1.0, run.oracle.cost(problem).iterations);
}

bool may_be_small(const StageRun& run, const Dataset& dataset) {
    return dataset.uses.check && !dataset.uses.cuda_only && dataset.applies_to(run.stage);
}

/// One process with the sanitizer, and its results.
struct Part {
    StageRun run;
    std::vector<Check> checks = {};
    std::vector<Counted> counted = {};
    bool ended_early = false;
};

StageRun make_twin(const StageRun& run) {
    StageRun twin{run.lab, run.stage, run.oracle, run.backend, run.runner, run.policy, run.device, run.host};
    twin.tool = run.tool;
    twin.environment = run.environment;
    twin.reference = run.reference;
    twin.by_fibers = run.by_fibers;
    twin.sanitizer = Sanitizer::on;
    return twin;
}

struct Orders {
    const LaunchDigests& expected;
    const std::filesystem::path& source;
    bool until_found;
    std::function<void(const std::string&)> doing;
};

void run_part(Part& part, const std::vector<const Dataset*>& datasets, const Orders& orders,
              const std::atomic<bool>& stop) {
    StageRun& run = part.run;
    for (const Dataset* dataset : datasets) {
        if (stop) break;
        orders.doing("check mode: " + dataset->name);
        const Check check = check_dataset(run, *dataset);
        if (orders.until_found) run.end_session();  // the end of the session returns its findings
        part.counted.push_back(take_counts(run, *dataset));
        const auto digests = std::exchange(run.launch_digests, {});
        const auto other = orders.expected.find(dataset->name);
        if (other != orders.expected.end() && check.verdict == Verdict::passed && other->second != digests &&
            run.doubt.empty())
            run.doubt = fmt::format("On {}, the program launches different kernels with the sanitizer than without.",
                                    dataset->name);
        part.checks.push_back(check);
        const bool slow = !check.skipped && check.verdict != Verdict::passed && check.wall_s > slow_s;
        part.ended_early =
            slow || (orders.until_found && any_serious(explain_findings(run, orders.source, run.findings, false)));
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
Part run_parts(const StageRun& run, const Parts& datasets, Orders orders) {
    std::mutex mutex;
    orders.doing = [&mutex, doing = std::move(orders.doing)](const std::string& what) {
        const std::lock_guard lock(mutex);
        doing(what);
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < datasets.size(); ++i) parts.push_back({make_twin(run)});
    std::atomic<bool> stop = false;
    std::vector<std::future<void>> later;
    for (std::size_t i = 1; i < parts.size(); ++i)
        later.push_back(std::async(std::launch::async, [&, i] { run_part(parts[i], datasets[i], orders, stop); }));
    Part all{make_twin(run)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == 0) run_part(parts[0], datasets[0], orders, stop);
        if (i > 0) later[i - 1].get();
        if (!stop) append(all, parts[i]);
        stop = stop || parts[i].ended_early;
    }
    return all;
}

}  // namespace

bool small_enough(const StageRun& run, const Dataset& dataset) {
    return may_be_small(run, dataset) && bytes_of(run, dataset) <= most_bytes;
}

Parts split_small(const StageRun& run, const std::vector<const Dataset*>& datasets) {
    std::vector<const Dataset*> small;
    std::vector<double> cost;
    for (const Dataset* dataset : datasets) {
        const double bytes = may_be_small(run, *dataset) ? bytes_of(run, *dataset) : 2 * most_bytes;
        if (bytes > most_bytes) continue;
        small.push_back(dataset);
        cost.push_back(bytes);
    }
    const double half = std::accumulate(cost.begin(), cost.end(), 0.0) / 2;
    std::size_t first = 0;
    for (double sum = 0; first < small.size() && sum + cost[first] / 2 < half; ++first) sum += cost[first];
    Parts parts;
    for (auto [begin, end] : {std::pair{small.begin(), small.begin() + static_cast<std::ptrdiff_t>(first)},
                              std::pair{small.begin() + static_cast<std::ptrdiff_t>(first), small.end()}})
        if (begin != end) parts.emplace_back(begin, end);
    return parts;
}

Counted take_counts(StageRun& run, const Dataset& dataset) {
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    return {dataset.name, std::exchange(run.counts, {}), std::exchange(run.launches, {}),
            run.oracle.cost(problem).bound_bytes * static_cast<double>(std::exchange(run.calls, 0))};
}

Watched run_check_mode(StageRun& run, const Parts& parts, const LaunchDigests& expected,
                       const std::filesystem::path& source, bool until_found,
                       const std::function<void(const std::string&)>& doing) {
    Part all = run_parts(run, parts, {expected, source, until_found, doing});
    const std::vector<Counted>& counted = all.counted;
    Watched watched;
    CheckMode& result = watched.result;
    std::optional<Check> first_failed;
    for (const Check& check : all.checks) {
        if (check.skipped) continue;
        ++result.datasets;
        if (check.verdict != Verdict::passed && !first_failed) first_failed = check;
    }
    result.findings = explain_findings(all.run, source, all.run.findings, !until_found && !first_failed);
    result.verdict = any_serious(result.findings) ? CheckMode::Verdict::failed : CheckMode::Verdict::passed;
    if (result.verdict == CheckMode::Verdict::passed && first_failed) {
        result.verdict =
            first_failed->verdict == Verdict::error ? CheckMode::Verdict::error : CheckMode::Verdict::unconfirmed;
        result.remark = fmt::format("check mode could not finish {}", first_failed->dataset);
        if (first_failed->failure) result.remark += ": " + first_failed->failure->message;
    } else if (result.verdict == CheckMode::Verdict::passed && !all.run.doubt.empty()) {
        result.verdict = CheckMode::Verdict::unconfirmed;
        result.remark = "unconfirmed, for an instructor to review: " + all.run.doubt;
    } else if (result.datasets == 0) {
        result.remark = "given without check mode: no dataset here is small enough for it";
    } else if (result.verdict == CheckMode::Verdict::passed) {
        for (const LimitOutcome& outcome : compare_with_limits(run.stage, counted))
            if (!outcome.held()) watched.unused_techniques.push_back(limit_words(outcome));
    }
    return watched;
}

void explain_by_findings(std::vector<Check>& checks, const std::vector<Finding>& findings) {
    const auto first = std::find_if(findings.begin(), findings.end(), is_serious);
    if (first == findings.end() || first->hint.empty()) return;
    const bool strays = first->cause == "out_of_bounds" && first->line > 0;
    const std::string hint =
        strays ? fmt::format("Line {} uses memory that is not its own: fix that first. {}", first->line, first->hint)
               : first->hint;
    for (Check& check : checks) {
        if (!check.failure) continue;
        const bool damage = strays && check.failure->cause == cause::out_of_bounds_write;
        if (damage || check.failure->cause == cause::race) check.failure->hint = hint;
    }
}

CheckMode without_check_mode(const Compilation& compilation) {
    CheckMode result;
    const std::string why = compilation.failure ? compilation.failure->message : "it could not be compiled.";
    if (compilation.verdict == Verdict::failed) {
        result.verdict = CheckMode::Verdict::unconfirmed;
        result.remark = "unconfirmed: check mode, which runs on the CPU backend, cannot take this file. " + why;
    } else {
        result.remark = "check mode could not be compiled: " + why;
    }
    return result;
}

}  // namespace warplab
