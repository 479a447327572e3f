#include "grader/judge/bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "grader/common/parallel.h"
#include "grader/common/text.h"
#include "grader/judge/bench/clock.h"
#include "grader/judge/check/diagnose.h"
#include "grader/model/cause.h"

namespace warplab::timing {

namespace {

constexpr double short_s = 0.02;     // maximum CPU time per output sample, except for the first
constexpr double parallel_s = 0.05;  // of one core; answers that take longer are computed one by one, by all cores

/// Return the first difference in an output sample, and set `expected` to the correct answer. If the CPU would take
/// longer than `cpu_limit_s`, the reference solution computes the answer, but only the CPU can confirm a difference.
std::optional<Difference> find_difference(const StageRun& run, const Pool& pool, const OutputSample& output_sample,
                                          const Substitute& substitute, double cpu_limit_s, Array& expected) {
    const Problem call = pool.call_at(output_sample.window, run.lab);
    const std::size_t count = output_sample.found.count();
    const auto compare_now = [&] {
        return compare(run.oracle, call, output_sample.buffer, expected, output_sample.found, output_sample.first);
    };
    expected = Array(output_sample.found.type(), count);
    if (run.oracle.reference_part(call, output_sample.buffer, output_sample.first, count, expected))
        return compare_now();
    const bool one_core = substitute.core_s <= parallel_s;
    Subject* const reference = substitute.reference;
    if (!one_core && reference && !reference->failure && substitute.cpu_s > cpu_limit_s) {
        expected = reference->outputs_for(output_sample);
        if (!reference->failure && !compare_now()) return std::nullopt;
    }
    Problem solved = pool.call_at(output_sample.window, run.lab);
    run.oracle.reference(solved, Execution::openmp);
    expected = solved.arrays[output_sample.buffer].part(output_sample.first, count);
    return compare_now();
}

/// Move the first output sample of each timed sample to the front, and return how many were moved.
std::size_t put_first_of_each_sample_first(std::vector<OutputSample>& output_samples) {
    std::vector<bool> has_first(1000, false);
    std::stable_partition(output_samples.begin(), output_samples.end(), [&](const OutputSample& s) {
        const bool first = !has_first[static_cast<std::size_t>(s.sample) % 1000];
        has_first[static_cast<std::size_t>(s.sample) % 1000] = true;
        return first;
    });
    return static_cast<std::size_t>(std::ranges::count(has_first, true));
}

Failure describe(const StageRun& run, const OutputSample& s, const Difference& difference, const Array& expected) {
    const Place place{run.lab.buffers[s.buffer].name, s.first + difference.first,
                      element_text(expected, difference.first), element_text(s.found, difference.first)};
    return {cause::timed_output_wrong,
            fmt::format("During timing, an output was wrong: {}[{}] is {}, expected {} (sample {}).", place.buffer,
                        format_count(s.first + difference.first), place.actual, place.expected, s.sample + 1),
            "Every call gets new inputs and its own output: results of earlier calls must not be reused, and "
            "all work must be done before the next call begins.",
            place};
}

}  // namespace

std::optional<Failure> verify(const StageRun& run, const Pool& pool, std::vector<OutputSample>& output_samples,
                              double budget_s, const Substitute& substitute, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::shuffle(output_samples.begin(), output_samples.end(), random);
    const std::size_t samples = put_first_of_each_sample_first(output_samples);
    const std::size_t threads = substitute.core_s <= parallel_s ? count_cores() : 1;
    const auto begin = Clock::now();
    std::vector<std::optional<Failure>> failures(output_samples.size());
    std::atomic<bool> any = false;
    for_each_index(output_samples.size(), threads, [&](std::size_t i) {
        const double left_s = budget_s / static_cast<double>(threads) - seconds_since(begin);
        if (any || (i >= samples && left_s < 0)) return;
        Array expected;
        const double cpu_limit_s = i == 0 ? left_s : std::min(left_s, short_s);
        const auto difference = find_difference(run, pool, output_samples[i], substitute, cpu_limit_s, expected);
        if (!difference) return;
        failures[i] = describe(run, output_samples[i], *difference, expected);
        any = true;
    });
    const auto first = std::ranges::find_if(failures, [](const auto& failure) { return failure.has_value(); });
    return first == failures.end() ? std::nullopt : *first;
}

}  // namespace warplab::timing
