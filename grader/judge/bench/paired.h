#pragma once
// The samples of a paired benchmark: student and reference in alternation, in rounds of fresh processes.

#include <optional>
#include <string>
#include <vector>

#include "grader/judge/bench/clock.h"
#include "grader/judge/bench/samples.h"
#include "grader/judge/bench/subject.h"
#include "grader/judge/device/cuda_device.h"

namespace warplab::timing {

/// Takes samples of student and reference in alternation and, on a GPU, times a calibration copy after each round.
class PairedBenchmark {
  public:
    PairedBenchmark(StageRun& student_run, StageRun* reference_run, const Pool& pool, std::uint32_t slots,
                    std::uint64_t seed, const Effort& effort);
    /// Return whether a process failed.
    bool broken() const { return student.failure || (reference && reference->failure); }

    /// Time the reference before the student's process exists. Return the seconds of a call, measured by events; 0 if
    /// the process fails. Also set the overhead that later commands may have in addition to the time between their
    /// events.
    double time_reference_alone(int slots, const Progress& progress);

    /// Start fresh processes, after student and reference have swapped their memory. In the first round, the
    /// reference's process is the one that ran alone.
    void begin_round(const Progress& progress);

    /// Run until clocks settle, measure the duration of a call including all overhead, and set the calls per sample.
    void warm_up(int requested_calls, const Progress& progress);

    /// Take all samples of a round. Repeat samples whose clock was more than 5% below the median. If samples are short
    /// and their times differ, take more.
    void take_round(const Progress& progress);

    /// If a command's overhead in the reference's last sample was clearly shorter than assumed, use this for all
    /// samples. A busy CPU can delay the few commands that measure it before the first sample. Without this, a time
    /// can be shorter than the kernel's.
    void lower_gap(double gap_s);

  private:
    void raise_clocks();
    int affordable_calls(int requested) const;

    /// If the last sample, which took `wall_s` including all overhead, allows at least twice as many calls, discard the
    /// round's samples and use more calls. A program may be slow only during warm-up, because it loads code, or on
    /// purpose, to get samples so short that a command's overhead dominates.
    void lengthen_short_samples(double wall_s);

    /// Describe the median time and ratio of the samples taken, for the progress line; empty before the first sample.
    std::string so_far() const;

    enum class Subjects { reference, both };
    /// Start both programs at the same time, because opening the GPU takes long, and on the same core, because the time
    /// of a launch differs between cores.
    void start_processes(Subjects subjects);
    void end_processes();
    void settle();

    void take_samples_of_round(const Progress& progress);
    /// Take a sample of each program, in alternating order, because the GPU is idle before a round's first sample.
    void take_sample(int calls);

    /// Time copies, and store their rate in the round's samples. Do not call this between samples: near the power
    /// limit, a program that runs after a copy gets a lower clock.
    void calibrate();
    void time_reference(Sample& sample, int calls);
    void time_one(Subject& subject, int calls);

    /// Set the sample's times without the overhead of its commands.
    void subtract_gaps(Sample& sample) const;

    /// Return whether the processes measure times with events: on a GPU.
    bool has_events() const { return run_.backend == Backend::cuda; }
    void drop_slow_clocks();

    StageRun& run_;
    const Effort& effort_;
    std::optional<CalibrationCopy> calibration_;
    int sample_number_ = 0;
    int warm_calls_ = 0;         // the student's calls before the first round's samples
    int core_ = sched_getcpu();  // the core of this round's processes
    double both_calls_s_ = 0;    // the time of one call of each program, with all overhead

  public:
    Subject student;
    std::optional<Subject> reference;
    PairedSamples taken;
};

/// Return the reference's seconds by the judge's clock, limited to slightly more than the time between its events. A
/// program can leave work on the GPU that delays the reference before its first event.
double limited_by_events(double wall_s, double event_s);

/// Take rounds until PairedSamples::ended_by() returns a reason to end, or a process fails.
void take_samples(PairedBenchmark& paired, const Progress& progress);

}  // namespace warplab::timing
