#include "grader/judge/bench/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "grader/common/text.h"

namespace warplab::timing {

namespace {

constexpr double calibration_share = 0.05;  // fraction of the samples' time
constexpr double alone_sample_s = 0.5;      // maximum for each sample of the reference alone, if calls take long
constexpr double settle_s = 0.02;           // time for warm-up calls in a new process, after the first call
constexpr double gap_noise_s = 20e-6;       // by which a command's overhead varies

SampleConditions conditions_now(const StageRun& run) {
    return run.backend == Backend::cuda ? CudaDevice::get().conditions() : SampleConditions{};
}

}  // namespace

PairedBenchmark::PairedBenchmark(StageRun& student_run, StageRun* reference_run, const Pool& pool, std::uint32_t slots,
                                 std::uint64_t seed, const Effort& effort)
    : run_(student_run),
      effort_(effort),
      student(student_run, pool, slots, seed),
      taken(effort, reference_run != nullptr) {
    if (reference_run) reference.emplace(*reference_run, pool, slots, seed + 1);
    if (has_events()) calibration_.emplace();
}

double PairedBenchmark::time_reference_alone(int slots, const Progress& progress) {
    progress(GradingPhase::start_processes, "starting the reference");
    start_processes(Subjects::reference);
    reference->open();
    progress(GradingPhase::warm_up, "timing the reference alone");
    raise_clocks();
    reference->time_calls(1, -1);  // loads the code
    const double sample_s = std::min(alone_sample_s, effort_.sample_s);
    if (!has_events() || reference->event_s() < sample_s) reference->time_calls(1, -1);
    if (!has_events()) reference->gap_s = student.gap_s = reference->time_empty_commands();
    const double once_s = std::max(has_events() ? reference->event_s() : reference->time_calls(1, -1), 1e-9);
    reference->forget_gaps();
    const int calls = std::max(1, static_cast<int>(std::min<double>(slots, sample_s / once_s)));
    const int samples = once_s < sample_s ? 3 : 2;
    std::vector<double> times;
    for (int i = 0; i < samples && !reference->failure; ++i) {
        reference->time_calls(calls, -1);
        times.push_back(reference->event_s() / calls);
    }
    if (reference->failure) return 0;
    if (has_events()) reference->gap_s = student.gap_s = reference->median_gap_s();
    return median(times);
}

void PairedBenchmark::begin_round(const Progress& progress) {
    progress(GradingPhase::start_processes, fmt::format("round {}: starting the programs", taken.rounds.size() + 1));
    if (!taken.rounds.empty()) {
        end_processes();
        if (reference) student.exchange_memory(*reference);
    }
    taken.rounds.emplace_back();
    start_processes(Subjects::both);
    student.open();
    if (reference && !student.failure) reference->open();
    if (!reference && taken.rounds.size() == 1)
        student.gap_s = student.time_empty_commands();  // in this case, nothing is scored
    if (taken.rounds.size() == 1) return;
    progress(GradingPhase::warm_up, fmt::format("round {}: warming up", taken.rounds.size()));
    settle();
}

void PairedBenchmark::warm_up(int requested_calls, const Progress& progress) {
    progress(GradingPhase::warm_up, "warming up");
    taken.requested_calls = requested_calls;
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
        both_calls_s_ = wall_s / calls;
        taken.slowest_s = std::max(student_s, both_s - student_s) / calls;
        if (wall_s > 0.9 * long_enough_s || calls >= requested_calls) break;
        const double growth = std::clamp(long_enough_s / wall_s, 1.0, 4.0);
        calls = std::min(requested_calls, static_cast<int>(std::ceil(growth * calls)));
    }
    taken.calls = affordable_calls(requested_calls);
}

int PairedBenchmark::affordable_calls(int requested) const {
    const double by_sample = effort_.sample_s / std::max(taken.slowest_s, 1e-9);
    const double by_total =
        effort_.total_s / (taken.round_limits().min * effort_.samples) / std::max(both_calls_s_, 1e-9);
    return std::clamp(static_cast<int>(std::min({by_sample, by_total, 1e9})), 1, requested);
}

void PairedBenchmark::take_round(const Progress& progress) {
    take_samples_of_round(progress);
    if (!broken() && taken.is_faster_than_first_round()) {
        progress(GradingPhase::warm_up, fmt::format("round {}: warming up as long as the first", taken.rounds.size()));
        student.time_calls(warm_calls_, -1);
        taken.rounds.back().clear();
        take_samples_of_round(progress);
    }
    if (calibration_ && !broken()) calibrate();
}

void PairedBenchmark::take_samples_of_round(const Progress& progress) {
    const auto begin = Clock::now();
    for (int attempt = 0; attempt < 2; ++attempt) {
        drop_slow_clocks();
        while (!broken() && !taken.round_is_complete(seconds_since(begin))) {
            const std::size_t sample = taken.rounds.back().size() + 1;
            progress(GradingPhase::samples,
                     fmt::format("{}round {} of {}, sample {} of {}", so_far(), taken.rounds.size(),
                                 std::max<std::size_t>(taken.rounds.size(), taken.round_limits().min), sample,
                                 std::max<std::size_t>(sample, effort_.samples)));
            const auto sample_begin = Clock::now();
            take_sample(taken.calls);
            if (taken.rounds.size() == 1 && !broken()) lengthen_short_samples(seconds_since(sample_begin));
        }
    }
}

std::string PairedBenchmark::so_far() const {
    if (taken.all().empty()) return "";
    std::string words = format_seconds(taken.median_student_s() / taken.calls * taken.requested_calls);
    if (reference)
        words +=
            fmt::format(", {:.3g} times the reference's time", taken.median_student_s() / taken.median_reference_s());
    return words + "; ";
}

void PairedBenchmark::lengthen_short_samples(double wall_s) {
    const Sample& last = taken.rounds.back().back();
    taken.slowest_s = std::max(last.student_s, last.reference_s) / taken.calls;
    both_calls_s_ = wall_s / taken.calls;
    const int affordable = affordable_calls(taken.requested_calls);
    if (affordable < 2 * taken.calls) return;
    taken.calls = affordable;
    taken.rounds.back().clear();
}

void PairedBenchmark::raise_clocks() {
    if (!has_events()) return;
    CudaDevice& device = CudaDevice::get();
    int before = device.conditions().sm_clock_mhz.value_or(0);
    for (int k = 0; k < 6; ++k) {
        device.warm_up(0.05);
        const int now =
            device.conditions().sm_clock_mhz.value_or(before + 1);  // if unknown, assume that it is still rising
        if (now <= before) return;
        before = now;
    }
}

void PairedBenchmark::start_processes(Subjects subjects) {
    {
        std::optional<Pinned> pinned;
        if (has_events()) pinned.emplace(core_);
        if (subjects == Subjects::both) student.start();
        if (reference) reference->start();
    }
    std::future<void> reference_start;
    if (reference) reference_start = std::async(std::launch::async, [this] { reference->wait(); });
    if (subjects == Subjects::both) student.wait();
}

void PairedBenchmark::end_processes() {
    std::future<void> reference_end;
    if (reference) reference_end = std::async(std::launch::async, [this] { reference->end(); });
    student.end();
    core_ = sched_getcpu();
}

void PairedBenchmark::settle() {
    const int calls = static_cast<int>(settle_s / std::max(taken.slowest_s, 1e-9));
    for (const int count : {1, calls}) {
        student.time_calls(count, -1);
        if (reference) reference->time_calls(count, -1);
    }
}

void PairedBenchmark::take_sample(int calls) {
    Sample sample;
    const bool student_first = (taken.rounds.size() + taken.rounds.back().size()) % 2 == 1;
    if (!student_first) time_reference(sample, calls);
    time_one(student, calls);
    sample.student_wall_s = student.wall_s();
    sample.conditions = conditions_now(run_);
    if (student_first) time_reference(sample, calls);
    ++sample_number_;
    if (broken()) return;
    if (reference)
        reference->output_samples().clear();  // drawing them lets the GPU rest as long as after the student's calls
    subtract_gaps(sample);
    taken.rounds.back().push_back(sample);
    if (reference && has_events()) lower_gap(reference->median_gap_s());
}

void PairedBenchmark::subtract_gaps(Sample& sample) const {
    const double gaps_s = student.gap_s * student.commands_of(taken.calls);
    sample.student_s = std::max(sample.student_wall_s - gaps_s, shortest_s);
    const double reference_s = std::max(sample.reference_wall_s - gaps_s, shortest_s);
    sample.reference_s = has_events() ? limited_by_events(reference_s, sample.reference_event_s) : reference_s;
}

void PairedBenchmark::lower_gap(double gap_s) {
    if (gap_s > student.gap_s - gap_noise_s) return;
    reference->gap_s = student.gap_s = gap_s;
    for (std::vector<Sample>& round : taken.rounds)
        for (Sample& sample : round) subtract_gaps(sample);
}

void PairedBenchmark::calibrate() {
    double student_s = 0;
    for (const Sample& sample : taken.rounds.back()) student_s += sample.student_s;
    const double rate = calibration_->measure(calibration_share * student_s);
    for (Sample& sample : taken.rounds.back()) sample.conditions.copy_bytes_per_s = rate;
}

void PairedBenchmark::time_reference(Sample& sample, int calls) {
    if (!reference) return;
    student.pause();
    reference->forget_gaps();
    time_one(*reference, calls);
    student.resume();
    sample.reference_wall_s = reference->wall_s();
    sample.reference_event_s = reference->event_s();
}

void PairedBenchmark::time_one(Subject& subject, int calls) {
    if (has_events()) CudaDevice::get().reset_persisting_l2();
    subject.poison_all();
    subject.time_calls(calls, sample_number_);
}

void PairedBenchmark::drop_slow_clocks() {
    std::vector<double> clocks;
    for (const Sample& sample : taken.all())
        if (sample.conditions.sm_clock_mhz) clocks.push_back(*sample.conditions.sm_clock_mhz);
    if (clocks.empty()) return;
    const double min_clock = 0.95 * median(clocks);
    std::erase_if(taken.rounds.back(),
                  [&](const Sample& sample) { return sample.conditions.sm_clock_mhz < min_clock; });
}

double limited_by_events(double wall_s, double event_s) {
    constexpr double max_over = 1.05;
    return std::min(wall_s, max_over * event_s + gap_noise_s);
}

void take_samples(PairedBenchmark& paired, const Progress& progress) {
    paired.take_round(progress);
    while (!paired.broken() && !paired.taken.ended_by()) {
        paired.begin_round(progress);
        paired.take_round(progress);
    }
}

}  // namespace warplab::timing
