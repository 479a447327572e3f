#include "grader/judge/bench/new_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "grader/common/text.h"
#include "grader/judge/check/diagnose.h"
#include "grader/model/cause.h"

namespace warplab::timing {

namespace {

constexpr int fewest_calls = 2, most_calls = 8;
// A single call takes longer than one of many: nothing hides its launches.
constexpr double most_over_known = 1.3, over_known_s = 20e-6;
constexpr double most_over_samples = 2, over_samples_s = 50e-6;

}  // namespace

bool keeps_results(const SingleCalls& times) {
    const double alone_s = std::max(0.0, times.reference_s - times.reference_call_s);
    return times.new_s > most_over_known * times.known_s + over_known_s ||
           times.new_s > most_over_samples * times.call_s + alone_s + over_samples_s;
}

bool can_keep_results(const Pool& pool) {
    return std::count_if(pool.regions.begin(), pool.regions.end(),
                         [](const auto& region) { return region != nullptr; }) == 1;
}

std::optional<Failure> NewInputs::time(Subject& program, Subject& reference, double call_s, double reference_call_s) {
    constexpr double none = std::numeric_limits<double>::infinity();
    times_ = {none, none, call_s, none, reference_call_s};
    for (int calls = 0; calls < fewest_calls || (calls < most_calls && keeps_results(times_)); ++calls) {
        time_known(program, reference);
        if (auto failure = time_new(program)) return failure;
        if (program.failure || reference.failure) return program.failure;
    }
    return std::nullopt;
}

void NewInputs::time_known(Subject& program, Subject& reference) {
    const Problem call = pool_.call_at(draw_window(), run_.lab);
    program.pause();
    times_.reference_s = std::min(times_.reference_s, reference.time_call_on(call));
    program.resume();
    times_.known_s = std::min(times_.known_s, program.time_call_on(call));
}

std::optional<Failure> NewInputs::time_new(Subject& program) {
    const Pool other{run_.oracle.generate(dataset_, random_(), pool_.step), pool_.step, pool_.step, {}};
    Problem call = other.call_at(std::vector<std::size_t>(run_.lab.buffers.size(), 0), run_.lab);
    times_.new_s = std::min(times_.new_s, program.time_call_on(call));
    if (program.failure) return program.failure;
    run_.oracle.reference(call, Execution::openmp);
    for (std::size_t i = 0; i < run_.lab.buffers.size(); ++i) {
        if (run_.lab.buffers[i].role == Role::input) continue;
        const Array found = program.read_output(i);
        const auto difference = compare(run_.oracle, call, i, call.arrays[i], found);
        if (!difference) continue;
        const std::string name = run_.lab.buffers[i].name, index = format_count(difference->first);
        return Failure{
            cause::timed_output_wrong,
            fmt::format("After the timing, an output for new inputs was wrong: {}[{}] is {}, expected {}.", name, index,
                        element_text(found, difference->first), element_text(call.arrays[i], difference->first)),
            "Every call gets new inputs: nothing may be kept from an earlier call.",
            Place{name, difference->first, element_text(call.arrays[i], difference->first),
                  element_text(found, difference->first)}};
    }
    return std::nullopt;
}

std::vector<std::size_t> NewInputs::draw_window() {
    std::vector<std::size_t> window(run_.lab.buffers.size(), 0);
    const std::size_t places = pool_.step ? pool_.extra / pool_.step : 0;
    for (std::size_t i = 0; i < window.size(); ++i)
        if (pool_.regions[i]) window[i] = random_() % (places + 1) * pool_.step;
    return window;
}

}  // namespace warplab::timing
