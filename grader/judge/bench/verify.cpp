#include "grader/judge/bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "grader/common/text.h"
#include "grader/judge/bench/clock.h"
#include "grader/judge/check/diagnose.h"
#include "grader/model/cause.h"

namespace warplab::timing {

namespace {

constexpr double short_s = 0.02;  // CPU time for all output samples but the first

/// Return the first difference in an output sample, and set `expected` to the correct answer. If the CPU would take
/// longer than `cpu_limit_s`, the reference solution computes the answer, but only the CPU can confirm a difference.
std::optional<Difference> find_difference(const StageRun& run, const Pool& pool, const OutputSample& seen,
                                          const Substitute& substitute, double cpu_limit_s, Array& expected) {
    const Problem call = pool.call_at(seen.window, run.lab);
    const std::size_t count = seen.found.count();
    const auto compare_now = [&] { return compare(run.oracle, call, seen.buffer, expected, seen.found, seen.first); };
    expected = Array(seen.found.type(), count);
    if (run.oracle.reference_part(call, seen.buffer, seen.first, count, expected)) return compare_now();
    Subject* const reference = substitute.reference;
    if (reference && !reference->failure && substitute.cpu_s > cpu_limit_s) {
        expected = reference->outputs_for(seen);
        if (!reference->failure && !compare_now()) return std::nullopt;
    }
    Problem solved = pool.call_at(seen.window, run.lab);
    run.oracle.reference(solved, Execution::openmp);
    expected = solved.arrays[seen.buffer].part(seen.first, count);
    return compare_now();
}

}  // namespace

std::optional<Failure> verify(const StageRun& run, const Pool& pool, std::vector<OutputSample>& output_samples,
                              double budget_s, const Substitute& substitute, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::shuffle(output_samples.begin(), output_samples.end(), random);
    std::vector<bool> seen_sample(1000, false);
    std::stable_partition(output_samples.begin(), output_samples.end(), [&](const OutputSample& s) {
        const bool first = !seen_sample[static_cast<std::size_t>(s.sample) % 1000];
        seen_sample[static_cast<std::size_t>(s.sample) % 1000] = true;
        return first;
    });
    const auto samples = static_cast<std::size_t>(std::ranges::count(seen_sample, true));
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < output_samples.size(); ++i) {
        const double left_s = budget_s - seconds_since(begin);
        if (i >= samples && left_s < 0) break;
        const OutputSample& s = output_samples[i];
        Array expected;
        const double cpu_limit_s = i == 0 ? left_s : std::min(left_s, short_s);
        const auto difference = find_difference(run, pool, s, substitute, cpu_limit_s, expected);
        if (!difference) continue;
        const std::string name = run.lab.buffers[s.buffer].name;
        return Failure{
            cause::timed_output_wrong,
            fmt::format("While timed, an output was wrong: {}[{}] is {}, expected {} (sample {}).", name,
                        format_count(s.first + difference->first), element_text(s.found, difference->first),
                        element_text(expected, difference->first), s.sample + 1),
            "Every call gets new inputs and its own output: results of earlier calls must not be reused, and "
            "all work must be done before the next call begins.",
            Place{name, s.first + difference->first, element_text(expected, difference->first),
                  element_text(s.found, difference->first)}};
    }
    return std::nullopt;
}

}  // namespace warplab::timing
