#include "grader/judge/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "grader/common/text.h"
#include "grader/judge/bench/few_calls.h"
#include "grader/judge/bench/paired.h"
#include "grader/judge/bench/verify.h"
#include "grader/model/cause.h"
#include "grader/model/statistics.h"

namespace warplab {

using namespace timing;

namespace {

std::uint32_t choose_slots(const StageRun& run, const Pool& pool, int calls, int subjects) {
    const double per_slot = static_cast<double>(Buffers::bytes_per_slot(pool.shape(run.lab), 0, timed_guard_bytes));
    const double share = static_cast<double>(run.device.free_bytes()) / 4 / subjects;
    const auto fit = static_cast<int>(std::min(1000.0, share / per_slot));
    return static_cast<std::uint32_t>(std::clamp(std::min(fit, calls), 1, 1000));
}

bool mostly_reads(const Lab& lab, const Problem& shape) {
    double in = 0, out = 0;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i)
        (lab.buffers[i].role == Role::input ? in : out) += static_cast<double>(shape.arrays[i].bytes());
    return out < 0.05 * in;
}

/// Return the bandwidth of copies and reads during the samples. Clocks and heat change the bandwidth that a kernel can
/// reach, so a copy was timed after each round; reads are assumed to change in proportion to copies.
Bandwidth bandwidth_during(const std::vector<Sample>& samples, Bandwidth bandwidth) {
    std::vector<double> copies;
    for (const Sample& sample : samples)
        if (sample.conditions.copy_bytes_per_s) copies.push_back(*sample.conditions.copy_bytes_per_s);
    if (copies.empty() || bandwidth.copy_bytes_per_s <= 0) return bandwidth;
    const double drift = median(copies) / bandwidth.copy_bytes_per_s;
    bandwidth.copy_bytes_per_s *= drift;
    bandwidth.read_bytes_per_s *= drift;
    bandwidth.l2_bytes_per_s *= drift;
    return bandwidth;
}

/// Set the bounds from the bandwidths `at_start` and `during` the samples. The bound uses the bandwidth during the
/// samples. The floor uses the higher of the two: this favours the student, and code that slows the calibration copy
/// down cannot make an impossible time look plausible.
void set_bounds(Measurement& m, const StageRun& run, const Problem& shape, const Bandwidth& at_start,
                const Bandwidth& during, double set_bytes) {
    const Cost cost = run.oracle.cost(shape);
    const double scale = m.iterations / cost.iterations;
    const double fastest = std::max(
        {at_start.copy_bytes_per_s, at_start.read_bytes_per_s, during.copy_bytes_per_s, during.read_bytes_per_s});
    m.bandwidth_bytes_per_s = mostly_reads(run.lab, shape) ? during.read_bytes_per_s : during.copy_bytes_per_s;
    m.floor_bytes = cost.floor_bytes;
    const double iterations_ratio =
        run.lab.benchmark.iterations_per_call / cost.iterations;  // a dataset may define fewer iterations of a call
    m.bound_bytes = cost.bound_bytes * iterations_ratio;
    m.flops = cost.flops * iterations_ratio;
    if (m.bandwidth_bytes_per_s <= 0) return;
    const double floor_rate = set_bytes < static_cast<double>(at_start.l2_bytes)
                                  ? std::max({fastest, at_start.l2_bytes_per_s, during.l2_bytes_per_s})
                                  : fastest;
    m.floor_s = 0.9 * cost.floor_bytes / floor_rate * scale;
    m.bound_s = cost.bound_bytes / m.bandwidth_bytes_per_s * scale;
}

std::string limit_phrase(const Measurement& m) {
    if (m.bound_s <= 0) return "";
    const double fraction = m.bound_s / m.median_s;
    if (fraction >= 1.1) return "not memory: a cache or blocking saves passes over it";
    if (fraction >= 0.9) return "memory bandwidth";
    if (fraction >= 0.6) return "near memory bandwidth";
    return fmt::format("not memory: {:.0f}% of its bandwidth used", 100 * fraction);
}

/// Return the number of calls that make up the benchmark's iterations. A solver's dataset defines the iterations of one
/// call.
int count_calls(const StageRun& run, const Problem& shape) {
    return std::max(1, static_cast<int>(run.lab.benchmark.iterations / run.oracle.cost(shape).iterations));
}

constexpr double suspicious_slowdown = 1.1;

std::optional<Failure> find_implausible(const Measurement& m, double expected_s, double alongside_s) {
    if (m.median_s < m.floor_s)
        return Failure{cause::implausible_timing,
                       fmt::format("{} for {} iterations is faster than the memory's bandwidth allows: reading each "
                                   "input and writing each output once takes {}.",
                                   format_seconds(m.median_s), m.iterations, format_seconds(m.floor_s)),
                       "An instructor should look at this submission.",
                       {}};
    if (expected_s > 0 && alongside_s > suspicious_slowdown * expected_s)
        return Failure{
            cause::implausible_timing,
            fmt::format("The reference took {:.0f}% longer in alternation with this submission than in alternation "
                        "with itself: work of the submission continues after its calls, or another program used the "
                        "GPU meanwhile.",
                        100 * (alongside_s / expected_s - 1)),
            "Every call must have finished its work when the device is synchronised. Grade again when the GPU is free: "
            "`nvidia-smi` shows which programs use it.",
            {}};
    return std::nullopt;
}

Failure implausible_calls(const std::string& which, double few_s, double samples_s, const std::string& reason) {
    return {
        cause::implausible_timing,
        fmt::format("A call {} took {}, but {} in the samples: {}.", which, format_seconds(few_s),
                    format_seconds(samples_s), reason),
        "Results that depend on the inputs must not be kept for later calls, and each call must do its own work and "
        "no other work. Memory for intermediate results belongs in the scratch buffer: allocating it in each call "
        "is slow. An instructor should look at this submission.",
        {}};
}

/// Time commands of few calls. If earlier calls could help and the CPU can check the outputs in time, use inputs that
/// the program has never received. Set `measured.failure` or `measured.error` if the program kept results of earlier
/// calls or is fast only in commands of many calls.
void try_few_calls(Measured& measured, PairedBenchmark& paired, const StageRun& run, const Dataset& dataset,
                   const Pool& pool, std::vector<Problem> fresh, const Substitute& substitute, const Effort& effort) {
    const int calls = paired.taken.calls;
    const bool on_new_inputs = can_keep_results(run.lab) && substitute.cpu_s <= effort.verify_s;
    if (!paired.reference || (!on_new_inputs && (calls == 1 || paired.student.slots() == 1))) return;
    std::random_device entropy;
    FewCalls inputs(run, dataset, pool, std::move(fresh), (std::uint64_t{entropy()} << 32) | entropy());
    const auto time = on_new_inputs ? &FewCalls::time_on_new_inputs : &FewCalls::time_on_known_inputs;
    measured.failure = (inputs.*time)(paired.student, *paired.reference, paired.taken.median_student_s() / calls,
                                      paired.taken.median_reference_s() / calls);
    if (!measured.failure && !on_new_inputs && effort.verify_s > 0)
        measured.failure = verify(run, pool, paired.student.output_samples(), effort.verify_s, substitute, entropy());
    if (measured.failure) return;
    const CallTimes& times = inputs.times();
    if (on_new_inputs && keeps_results(times))
        measured.error = implausible_calls("on new inputs", times.new_s, times.call_s,
                                           "the program seems to keep results of earlier calls");
    else if (!on_new_inputs && needs_many_calls(times))
        measured.error = implausible_calls(fmt::format("in a command of {}", times.calls), times.known_s, times.call_s,
                                           "the program seems to work for several calls at the same time");
}

/// Time the reference in alternation with a second process of the reference, as it was timed with the student's
/// program. Return the seconds of a call in the slowest round, because a process may be slow by chance; 0 if a process
/// fails.
double time_reference_with_itself(StageRun& reference, const Pool& pool, std::uint32_t slots, int calls,
                                  const Effort& effort) {
    StageRun second{reference.lab,    reference.stage,  reference.oracle, reference.backend,
                    reference.runner, reference.policy, reference.device, reference.host};
    const Progress silent = [](GradingPhase, const std::string&) {};
    PairedBenchmark paired(second, &reference, pool, slots, 77, effort);
    paired.begin_round(silent);
    paired.warm_up(calls, silent);
    take_samples(paired, silent);
    return paired.broken() ? 0 : paired.taken.slowest_reference_event_s() / paired.taken.calls;
}

}  // namespace

double timing::measure_transfer(const StageRun& run, const Problem& call) {
    constexpr std::size_t max_copies = 9;
    constexpr double enough_s = 0.2;
    Buffers buffers(run.device, run.lab, call, 0, 1, 0, Poison::draw(1));
    const PlainCopies plain;
    std::vector<double> times;
    const auto first = Clock::now();
    while (times.size() < max_copies && (times.empty() || seconds_since(first) < enough_s)) {
        const auto begin = Clock::now();
        for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
            if (run.lab.buffers[i].role != Role::output) buffers.write(i, 0, call.arrays[i]);
        for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
            if (run.lab.buffers[i].role != Role::input) buffers.read(i, 0);
        times.push_back(seconds_since(begin));
    }
    return median(times);
}

Measured measure(StageRun& student, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                 const Effort& effort, const Baseline& cpu, const Progress& progress,
                 const std::optional<timing::Inputs>& prepared_inputs) {
    Measured measured;
    Measurement& m = measured.measurement;
    m.dataset = dataset.name;
    m.iterations = student.lab.benchmark.iterations;
    progress(GradingPhase::copy_inputs, "copying inputs to the GPU");
    Inputs inputs = prepared_inputs ? *prepared_inputs : make_inputs(student, dataset);
    const Pool pool = make_pool(student, std::move(inputs.pool));
    const int requested_calls = count_calls(student, pool.shape(student.lab));
    const std::uint32_t slots = choose_slots(student, pool, requested_calls, reference ? 2 : 1);
    const Problem shape = pool.shape(student.lab);
    std::random_device entropy;
    PairedBenchmark paired(student, reference, pool, slots, (std::uint64_t{entropy()} << 32) | entropy(), effort);
    const double alone_s = reference ? paired.time_reference_alone(static_cast<int>(slots), progress) : 0;
    paired.begin_round(progress);
    paired.warm_up(requested_calls, progress);
    take_samples(paired, progress);
    const int calls = paired.taken.calls;
    set_bounds(m, student, shape, bandwidth, bandwidth_during(paired.taken.all(), bandwidth),
               slots * static_cast<double>(Buffers::bytes_per_slot(shape, 0, 0)));
    if (paired.reference && paired.reference->failure) {
        const Failure& failure = *paired.reference->failure;
        measured.error = Failure{cause::internal, "The reference solution failed during timing: " + failure.message,
                                 failure.hint, failure.place};
        return measured;
    }
    measured.failure = paired.student.failure;
    if (measured.failure) return measured;
    progress(GradingPhase::verify_outputs, "checking timed outputs");
    const double iterations = student.oracle.cost(shape).iterations;
    const Substitute substitute{paired.reference ? &*paired.reference : nullptr, cpu.openmp_s * iterations,
                                cpu.sequential_s * iterations};
    if (effort.verify_s > 0)
        measured.failure =
            verify(student, pool, paired.student.output_samples(), effort.verify_s, substitute, entropy());
    if (measured.failure) return measured;
    progress(GradingPhase::verify_outputs, "timing commands of few calls");
    try_few_calls(measured, paired, student, dataset, pool, std::move(inputs.fresh), substitute, effort);
    if (measured.failure) return measured;
    paired.taken.fill_in(m);
    m.limit = limit_phrase(m);
    if (measured.error) return measured;
    const double alongside_s = reference ? paired.taken.median_reference_event_s() / calls : 0;
    double expected_s = alone_s;
    // A second process or the machine may also have slowed the reference down: time it without the student's program.
    if (alongside_s > suspicious_slowdown * expected_s) {
        progress(GradingPhase::compare_clocks, "timing the reference in alternation with itself");
        student.end_session();
        reference->end_session();
        expected_s = std::max(expected_s, time_reference_with_itself(*reference, pool, slots, calls, effort));
    }
    measured.error = find_implausible(m, expected_s, alongside_s);
    return measured;
}

}  // namespace warplab
