#include "grader/judge/bench/few_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

#include "grader/common/parallel.h"
#include "grader/common/text.h"
#include "grader/judge/check/diagnose.h"
#include "grader/model/cause.h"

namespace warplab::timing {

namespace {

constexpr int max_commands = 16, commands_without_pause = 3, max_calls = 8;
constexpr auto pause_step = std::chrono::milliseconds(25);
constexpr double command_s = 400e-6;  // minimum duration of a command's calls, so that its messages take a small share
// A call in a short command takes longer than a call among many, because no other call hides its launch latency.
constexpr double max_ratio_to_known = 1.3, max_ratio_to_samples = 2, allowance_per_command_s = 60e-6;

/// Return the maximum plausible seconds of a call in a command of few calls.
double longest_of_few(const CallTimes& times) {
    const double alone_s = std::max(0.0, times.reference_s - times.reference_call_s);
    return max_ratio_to_samples * times.call_s + alone_s + allowance_per_command_s / times.calls;
}

/// Wait before the next command of a suspected program, longer each time, because other processes may have slowed it
/// down.
void pause_before(int command) {
    std::this_thread::sleep_for(std::max(0, command + 1 - commands_without_pause) * pause_step);
}

}  // namespace

int calls_per_short_command(double call_s) {
    return static_cast<int>(std::clamp(command_s / std::max(call_s, 1e-9), 1.0, static_cast<double>(max_calls)));
}

bool keeps_results(const CallTimes& times) {
    return times.new_s >
               max_ratio_to_known * std::max(times.known_s, times.call_s) + allowance_per_command_s / times.calls ||
           times.new_s > longest_of_few(times);
}

bool needs_many_calls(const CallTimes& times) { return times.known_s > longest_of_few(times); }

bool can_keep_results(const Lab& lab) {
    return std::ranges::count_if(lab.buffers, [](const auto& buffer) { return buffer.role != Role::output; }) == 1;
}

void FewCalls::begin(const Subject& program, const Subject& reference, double call_s, double reference_call_s) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const int slots = static_cast<int>(std::min(program.slots(), reference.slots()));
    times_ = {std::min(slots, calls_per_short_command(call_s)), none, none, call_s, none, reference_call_s};
}

std::optional<Failure> FewCalls::time_on_known_inputs(Subject& program, Subject& reference, double call_s,
                                                      double reference_call_s) {
    begin(program, reference, call_s, reference_call_s);
    program.output_samples().clear();
    for (int k = 0; k == 0 || (k < max_commands && needs_many_calls(times_)); ++k) {
        pause_before(k);
        program.pause();
        times_.reference_s = std::min(times_.reference_s, reference.time_calls(times_.calls, -1) / times_.calls);
        program.resume();
        times_.known_s = std::min(times_.known_s, program.time_calls(times_.calls, k) / times_.calls);
        if (program.failure || reference.failure) return program.failure;
    }
    return std::nullopt;
}

std::optional<Failure> FewCalls::time_on_new_inputs(Subject& program, Subject& reference, double call_s,
                                                    double reference_call_s) {
    begin(program, reference, call_s, reference_call_s);
    for (int k = 0; k == 0 || (k < max_commands && keeps_results(times_)); ++k) {
        pause_before(k);
        time_known(program, reference);
        if (auto failure = time_new(program)) return failure;
        if (program.failure || reference.failure) return program.failure;
    }
    return std::nullopt;
}

void FewCalls::time_known(Subject& program, Subject& reference) {
    std::vector<Problem> calls;
    for (int k = 0; k < times_.calls; ++k) calls.push_back(draw_known());
    program.pause();
    times_.reference_s = std::min(times_.reference_s, reference.time_calls_on(calls));
    program.resume();
    times_.known_s = std::min(times_.known_s, program.time_calls_on(calls));
}

std::optional<Failure> FewCalls::time_new(Subject& program) {
    std::vector<Problem> calls = take_fresh();
    times_.new_s = std::min(times_.new_s, program.time_calls_on(calls));
    if (program.failure) return program.failure;
    for_each_index(calls.size(), count_cores(),
                   [&](std::size_t k) { run_.oracle.reference(calls[k], Execution::openmp); });
    for (std::size_t slot = 0; slot < calls.size(); ++slot)
        if (auto failure = find_wrong_output(program, calls[slot], static_cast<std::uint32_t>(slot))) return failure;
    return std::nullopt;
}

std::optional<Failure> FewCalls::find_wrong_output(Subject& program, const Problem& call, std::uint32_t slot) const {
    for (std::size_t i = 0; i < run_.lab.buffers.size(); ++i) {
        if (run_.lab.buffers[i].role == Role::input) continue;
        const Array output = program.read_output(i, slot);
        const auto difference = compare(run_.oracle, call, i, call.arrays[i], output);
        if (!difference) continue;
        const Place place{run_.lab.buffers[i].name, difference->first, element_text(call.arrays[i], difference->first),
                          element_text(output, difference->first)};
        return Failure{cause::timed_output_wrong,
                       fmt::format("After the timing, an output for new inputs was wrong: {}[{}] is {}, expected {}.",
                                   place.buffer, format_count(difference->first), place.actual, place.expected),
                       "Every call gets new inputs: results of earlier calls must not be reused.", place};
    }
    return std::nullopt;
}

Problem FewCalls::draw_known() {
    std::vector<std::size_t> window(run_.lab.buffers.size(), 0);
    const std::size_t places = pool_.step ? pool_.extra / pool_.step : 0;
    for (std::size_t i = 0; i < window.size(); ++i)
        if (pool_.regions[i]) window[i] = random_() % (places + 1) * pool_.step;
    return pool_.call_at(window, run_.lab);
}

std::vector<Problem> FewCalls::take_fresh() {
    const auto count = static_cast<std::size_t>(times_.calls);
    std::vector<Problem> calls = std::exchange(fresh_, {});
    calls.resize(std::min(calls.size(), count));
    std::ranges::move(make_fresh_calls(run_, dataset_, count - calls.size(), random_), std::back_inserter(calls));
    return calls;
}

}  // namespace warplab::timing
