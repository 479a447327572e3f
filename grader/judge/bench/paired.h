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

    /// Time the reference before the student's process exists. Returns the seconds of a call, by events; also sets how
    /// much longer than the events' time a command may take from then on.
    double time_reference_alone(int slots, const Progress& progress);

    /// Start fresh processes, which swap the memory of the last ones. In the first round, the reference's process is
    /// the one that ran alone.
    void begin_round(const Progress& progress);

    /// Run until clocks settle, measure how long a call takes, with all overhead, and set the calls of a sample.
    void warm_up(int calls_wanted, const Progress& progress);

    /// Take all of a round's samples. Those taken at a clock more than 5% below the median of all are repeated. If
    /// samples are short and differ, more are taken.
    void take_round(const Progress& progress);

  private:
    void raise_clocks();
    int affordable_calls(int wanted) const;

    /// If the last sample, which took `wall_s` with all overhead, allows at least twice as many calls, discard the
    /// round's samples and use more calls. A program may be slow only while it warms up, because it loads code, or so
    /// that samples are short and a command's overhead decides.
    void lengthen_short_samples(double wall_s);

    /// Describe the median time and ratio of the samples taken, for the progress line; empty before the first sample.
    std::string so_far() const;

    /// Start both at once, because a process takes long to open the GPU; and on one core, which they share in turns,
    /// because the time of a launch differs between cores.
    enum class Subjects { reference, both };
    void start_processes(Subjects subjects);
    void end_processes();
    void settle();

    void take_samples_of_round(const Progress& progress);
    /// Alternate the order, because the GPU has rested before a round's first sample.
    void take_sample(int calls);

    /// Do not call this between samples: if power is short, a program that runs after a copy runs at a lower clock.
    void calibrate();
    void time_reference(Sample& sample, int calls);
    double time_one(Subject& subject, int calls);
    void drop_slow_clocks();

    StageRun& run_;
    const Effort& effort_;
    std::optional<CalibrationCopy> calibration_;
    int sample_number_ = 0;
    int warm_calls_ = 0;         // the program's calls before the first round's samples
    int core_ = sched_getcpu();  // the core of this round's processes
    double around_s_ = 0;        // a call of both programs, with all overhead

  public:
    Subject student;
    std::optional<Subject> reference;
    PairedSamples taken;
};

/// Return the reference's seconds by the judge's clock, but at most a few more than between its events. A program can
/// leave work on the GPU that delays the reference before its first event, so that the events do not show it.
double limited_by_events(double wall_s, double event_s);

/// Take rounds until one of the reasons to end applies.
void take_samples(PairedBenchmark& paired, const Progress& progress);

}  // namespace warplab::timing
