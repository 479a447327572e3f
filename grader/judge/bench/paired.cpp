#include "grader/judge/bench/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "grader/common/text.h"

namespace warplab::timing {

namespace {

constexpr double calibration_share = 0.05;  // of the samples' time
constexpr double alone_sample_s = 0.5;      // of each sample of the reference alone, if calls take long; a maximum
constexpr double settle_s = 0.02;           // of calls in a new process, in addition to the first
constexpr double short_call_s = 60e-6;
constexpr double much_faster = 1.3;
constexpr double known_points = 0.005;  // the width of their interval

/// Return the standard deviation of the logarithm of a round's ratio between processes, for calls that take `call_s`.
/// It was 0.0097 for 91 first rounds of reference solutions, while two other gradings ran on the
/// same H100 (handouts/results/nvidia-h100-80gb-hbm3.json).
double deviation_of_rounds(double call_s) { return std::hypot(0.01, 0.2e-6 / call_s); }

SampleConditions conditions_now(const StageRun& run) {
    return run.backend == Backend::cuda ? CudaDevice::get().conditions() : SampleConditions{};
}

}  // namespace

PairedBenchmark::PairedBenchmark(StageRun& student_run, StageRun* reference_run, const Pool& pool, std::uint32_t slots,
                                 std::uint64_t seed, const Effort& effort)
    : run_(student_run), effort_(effort), student(student_run, pool, slots, seed) {
    if (reference_run) reference.emplace(*reference_run, pool, slots, seed + 1);
    if (run_.backend == Backend::cuda) calibration_.emplace();
}

double PairedBenchmark::time_reference_alone(int slots, const Progress& progress) {
    progress(GradingPhase::start_processes, "starting the reference");
    start_processes(Subjects::reference);
    reference->open();
    progress(GradingPhase::warm_up, "timing the reference alone");
    raise_clocks();
    reference->time_calls(1, -1);  // loads the code
    const bool has_events = run_.backend == Backend::cuda;
    const double sample_s = std::min(alone_sample_s, effort_.sample_s);
    if (!has_events || reference->event_s() < sample_s) reference->time_calls(1, -1);
    if (!has_events) reference->gap_s = student.gap_s = reference->time_empty_commands();
    const double once_s = std::max(has_events ? reference->event_s() : reference->time_calls(1, -1), 1e-9);
    reference->forget_gaps();
    const int calls = std::max(1, static_cast<int>(std::min<double>(slots, sample_s / once_s)));
    const int samples = once_s < sample_s ? 5 : 2;
    std::vector<double> times;
    for (int i = 0; i < samples && !reference->failure; ++i) {
        reference->time_calls(calls, -1);
        times.push_back(reference->event_s() / calls);
    }
    if (reference->failure) return 0;
    if (has_events) reference->gap_s = student.gap_s = reference->median_gap_s();
    return median(times);
}

void PairedBenchmark::begin_round(const Progress& progress) {
    progress(GradingPhase::start_processes, fmt::format("round {}: starting the programs", rounds.size() + 1));
    if (!rounds.empty()) {
        end_processes();
        if (reference) student.exchange_memory(*reference);
    }
    rounds.emplace_back();
    start_processes(Subjects::both);
    student.open();
    if (reference && !student.failure) reference->open();
    if (!reference && rounds.size() == 1)
        student.gap_s = student.time_empty_commands();  // in this case, nothing is scored
    if (rounds.size() == 1) return;
    progress(GradingPhase::warm_up, fmt::format("round {}: warming up", rounds.size()));
    settle();
}

void PairedBenchmark::warm_up(int calls_wanted, const Progress& progress) {
    progress(GradingPhase::warm_up, "warming up");
    calls_wanted_ = calls_wanted;
    if (!reference) raise_clocks();  // else it has just run alone
    student.time_calls(1, -1);       // loads the code
    warm_calls_ = 1;
    const double long_enough_s = std::min(0.2, 2 * effort_.sample_s);
    for (int calls = 1; !broken();) {
        const auto begin = Clock::now();
        const double student_s = student.time_calls(calls, -1);
        warm_calls_ += calls;
        double both_s = student_s;
        if (reference) both_s += reference->time_calls(calls, -1);
        const double wall_s = seconds_since(begin);
        around_s = wall_s / calls;
        slowest_s = std::max(student_s, both_s - student_s) / calls;
        if (wall_s > 0.9 * long_enough_s || calls >= calls_wanted) break;
        const double growth = std::clamp(long_enough_s / wall_s, 1.0, 4.0);
        calls = std::min(calls_wanted, static_cast<int>(std::ceil(growth * calls)));
    }
    calls_ = affordable_calls(calls_wanted);
}

int PairedBenchmark::affordable_calls(int wanted) const {
    const double by_sample = effort_.sample_s / std::max(slowest_s, 1e-9);
    const double by_total = effort_.total_s / (rounds_wanted().fewest * effort_.samples) / std::max(around_s, 1e-9);
    return std::clamp(static_cast<int>(std::min({by_sample, by_total, 1e9})), 1, wanted);
}

Rounds PairedBenchmark::rounds_wanted() const {
    return reference && slowest_s < short_call_s ? effort_.of_short_calls : effort_.rounds;
}

void PairedBenchmark::take_round(const Progress& progress) {
    take_samples_of_round(progress);
    if (!broken() && is_faster_than_first_round()) {
        progress(GradingPhase::warm_up, fmt::format("round {}: warming up as long as the first", rounds.size()));
        student.time_calls(warm_calls_, -1);
        rounds.back().clear();
        take_samples_of_round(progress);
    }
    if (calibration_ && !broken()) calibrate();
}

bool PairedBenchmark::is_faster_than_first_round() const {
    return much_faster * median_of(rounds.back(), &Sample::student_s) < median_of(rounds.front(), &Sample::student_s);
}

void PairedBenchmark::take_samples_of_round(const Progress& progress) {
    const auto begin = Clock::now();
    const auto has_all = [&] {
        return static_cast<int>(rounds.back().size()) >= effort_.samples &&
               (!reference || seconds_since(begin) > effort_.round_s || points_are_known() ||
                is_known(rounds.size() - 1));
    };
    for (int attempt = 0; attempt < 2; ++attempt) {
        drop_slow_clocks();
        while (!broken() && !has_all()) {
            const std::size_t sample = rounds.back().size() + 1;
            progress(GradingPhase::samples, fmt::format("{}round {} of {}, sample {} of {}", so_far(), rounds.size(),
                                                        std::max<std::size_t>(rounds.size(), rounds_wanted().fewest),
                                                        sample, std::max<std::size_t>(sample, effort_.samples)));
            const auto sample_begin = Clock::now();
            take_sample(calls_);
            if (rounds.size() == 1 && !broken()) lengthen_short_samples(seconds_since(sample_begin));
        }
    }
}

std::string PairedBenchmark::so_far() const {
    if (samples().empty()) return "";
    std::string words = format_seconds(median_student_s() / calls_ * calls_wanted_);
    if (reference)
        words += fmt::format(", {:.3g} times the reference's time", median_student_s() / median_reference_s());
    return words + "; ";
}

void PairedBenchmark::lengthen_short_samples(double wall_s) {
    const Sample& last = rounds.back().back();
    slowest_s = std::max(last.student_s, last.reference_s) / calls_;
    around_s = wall_s / calls_;
    const int affordable = affordable_calls(calls_wanted_);
    if (affordable < 2 * calls_) return;
    calls_ = affordable;
    rounds.back().clear();
}

std::vector<Sample> PairedBenchmark::samples() const {
    std::vector<Sample> all;
    for (const std::vector<Sample>& round : rounds) all.insert(all.end(), round.begin(), round.end());
    return all;
}

double PairedBenchmark::slowest_reference_event_s() const {
    double slowest = 0;
    for (const std::vector<Sample>& round : rounds)
        slowest = std::max(slowest, median_of(round, &Sample::reference_event_s));
    return slowest;
}

std::optional<Measurement::EndedBy> PairedBenchmark::ended_by() const {
    using enum Measurement::EndedBy;
    const auto [fewest, most] = rounds_wanted();
    const int begun = static_cast<int>(rounds.size());
    if (points_are_known()) return points_known;
    if (begun >= fewest && !reference) return unknown;
    if (begun >= fewest && begun % 2 == 0 && is_known()) return ratio_known;
    return begun >= most ? std::optional(most_rounds) : std::nullopt;
}

Interval PairedBenchmark::ratio() const { return points_are_known() ? sequential() : paired_ratio(paired_since(0)); }

Interval PairedBenchmark::sequential() const {
    return sequential_ratio(paired_since(0), deviation_of_rounds(median_reference_s() / calls_));
}

bool PairedBenchmark::points_are_known() const {
    if (!reference || !effort_.points) return false;
    const Interval ratio = sequential();
    const double reference_s = median_reference_s() / calls_ * calls_wanted_;
    const double width = effort_.points(ratio.low, reference_s) - effort_.points(ratio.high, reference_s);
    return width <= known_points;  // not if it is NaN
}

bool PairedBenchmark::is_known(std::size_t since) const {
    return half_width(paired_ratio(paired_since(since))) <= wanted_half_width;
}

std::vector<Round> PairedBenchmark::paired_since(std::size_t first) const {
    std::vector<Round> of_both;
    for (std::size_t i = first; i < rounds.size(); ++i) {
        of_both.emplace_back();
        for (const Sample& sample : rounds[i]) {
            of_both.back().a.push_back(sample.student_s);
            of_both.back().b.push_back(sample.reference_s);
        }
    }
    return of_both;
}

double PairedBenchmark::median_of(const std::vector<Sample>& samples, double Sample::*what) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(sample.*what);
    return median(values);
}

void PairedBenchmark::raise_clocks() {
    if (run_.backend != Backend::cuda) return;
    CudaDevice& device = CudaDevice::get();
    int before = 0;
    for (int k = 0; k < 6; ++k) {
        device.warm_up(0.05);
        const int now = device.conditions().sm_clock_mhz.value_or(before + 1);  // unknown: as if it still rose
        if (now <= before) return;
        before = now;
    }
}

void PairedBenchmark::start_processes(Subjects subjects) {
    {
        std::optional<Pinned> pinned;
        if (run_.backend == Backend::cuda) pinned.emplace(core_);
        if (subjects == Subjects::both) student.start();
        if (reference) reference->start();
    }
    std::future<void> other;
    if (reference) other = std::async(std::launch::async, [this] { reference->wait(); });
    if (subjects == Subjects::both) student.wait();
}

void PairedBenchmark::end_processes() {
    std::future<void> other;
    if (reference) other = std::async(std::launch::async, [this] { reference->end(); });
    student.end();
    core_ = sched_getcpu();
}

void PairedBenchmark::settle() {
    const int calls = static_cast<int>(settle_s / std::max(slowest_s, 1e-9));
    for (const int count : {1, calls}) {
        student.time_calls(count, -1);
        if (reference) reference->time_calls(count, -1);
    }
}

void PairedBenchmark::take_sample(int calls) {
    Sample sample;
    const bool student_first = (rounds.size() + rounds.back().size()) % 2 == 1;
    if (!student_first) time_reference(sample, calls);
    sample.student_s = time_one(student, calls);
    sample.conditions = conditions_now(run_);
    if (student_first) time_reference(sample, calls);
    ++taken_;
    if (broken()) return;
    if (reference) reference->output_samples().clear();  // taken only because the GPU rests meanwhile
    rounds.back().push_back(sample);
}

void PairedBenchmark::calibrate() {
    double student_s = 0;
    for (const Sample& sample : rounds.back()) student_s += sample.student_s;
    const double rate = calibration_->measure(calibration_share * student_s);
    for (Sample& sample : rounds.back()) sample.conditions.copy_bytes_per_s = rate;
}

void PairedBenchmark::time_reference(Sample& sample, int calls) {
    if (!reference) return;
    student.pause();
    const double wall_s = time_one(*reference, calls);
    student.resume();
    sample.reference_event_s = reference->event_s();
    const bool has_events = run_.backend == Backend::cuda;
    sample.reference_s = has_events ? limited_by_events(wall_s, sample.reference_event_s) : wall_s;
}

double PairedBenchmark::time_one(Subject& subject, int calls) {
    if (run_.backend == Backend::cuda) CudaDevice::get().reset_persisting_l2();
    subject.poison_all();
    return subject.time_calls(calls, taken_);
}

void PairedBenchmark::drop_slow_clocks() {
    std::vector<double> clocks;
    for (const Sample& sample : samples())
        if (sample.conditions.sm_clock_mhz) clocks.push_back(*sample.conditions.sm_clock_mhz);
    if (clocks.empty()) return;
    const double least = 0.95 * median(clocks);
    std::erase_if(rounds.back(), [&](const Sample& sample) { return sample.conditions.sm_clock_mhz < least; });
}

double limited_by_events(double wall_s, double event_s) {
    constexpr double most_over = 1.05, noise_s = 20e-6;  // of the messages
    return std::min(wall_s, most_over * event_s + noise_s);
}

void take_samples(PairedBenchmark& paired, const Progress& progress) {
    paired.take_round(progress);
    while (!paired.broken() && !paired.ended_by()) {
        paired.begin_round(progress);
        paired.take_round(progress);
    }
}

}  // namespace warplab::timing
