#pragma once
// The samples of a timing: student and reference in turns, in rounds of fresh processes.

#include <optional>
#include <vector>

#include "grader/judge/bench/clock.h"
#include "grader/judge/bench/contestant.h"
#include "grader/judge/bench/measure.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/model/statistics.h"

namespace warplab::timing {

inline constexpr double wanted_half_width = 0.005;  // half the width of the ratio's interval

struct Sample {
    double student_s = 0, reference_s = 0, reference_event_s = 0;
    SampleConditions conditions;
};

/// The samples of student and reference, taken in turns and, on a GPU, a calibration copy after each round.
class Race {
  public:
    Race(StageRun& student_run, StageRun* reference_run, const Pool& pool, std::uint32_t slots, std::uint64_t seed,
         const Effort& effort);
    bool broken() const { return student.failure || (reference && reference->failure); }

    /// Seconds of a call of the reference, by events, before the student's process exists, and from then on how much
    /// longer than the events' time a command may take.
    double time_reference_alone(int slots);

    /// Fresh processes, which exchange the memory that the last ones had. In the first round, the reference's is that
    /// which ran alone.
    void begin_round();

    /// Runs until clocks settle and finds how long a call takes, everything around it included.
    void warm_up(int calls_wanted);
    int affordable_calls(int wanted) const;

    /// More where calls are short. On an H200 a process's calls take up to 0.3 us more than another's do, all of them,
    /// and a few processes may agree by chance.
    Rounds rounds_wanted() const;

    /// All of a round's samples. Those taken at a clock more than 5% below the median of all are taken again. Where
    /// samples are short and differ, there are more of them.
    void take_round(int calls, const Progress& progress);

    /// The student's time over the reference's.
    Interval ratio() const { return ratio_since(0); }

    /// Whether the ratio is known as well as is wanted, by the rounds since the given one.
    bool is_known(std::size_t since = 0) const { return half_width(ratio_since(since)) <= wanted_half_width; }
    std::vector<Sample> samples() const;
    double median_reference_s() const { return median_of(samples(), &Sample::reference_s); }

    /// By events, as all that suspicion rests on: a CPU that is busy accuses nobody.
    double median_reference_event_s() const { return median_of(samples(), &Sample::reference_event_s); }

    /// The median of the round that took the reference longest.
    double slowest_reference_event_s() const;

  private:
    Interval ratio_since(std::size_t first) const;
    static double median_of(const std::vector<Sample>& samples, double Sample::*what);
    void raise_clocks();

    /// Both at once, as a process takes long to get at the GPU; and on one core, which they take turns on: what a
    /// launch takes differs between cores.
    void start_processes(bool with_student);
    void end_processes();
    void settle();

    /// Who is first changes, because the GPU has rested before a round's first sample.
    void take_sample(int calls);

    /// Not between samples: where power is short, whoever runs after a copy runs at a lower clock.
    void calibrate();
    void time_reference(Sample& sample, int calls);
    double time_one(Contestant& contestant, int calls);
    void drop_slow_clocks();

    StageRun& run_;
    const Effort& effort_;
    std::optional<CalibrationCopy> calibration_;
    int taken_ = 0;
    int core_ = sched_getcpu();  // of this round's processes

  public:
    Contestant student;
    std::optional<Contestant> reference;
    std::vector<std::vector<Sample>> rounds;
    double around_s = 0, slowest_s = 0;
};

/// Rounds until the ratio is known as well as is wanted, or there are the most that are wanted.
void take_samples(Race& race, int calls, const Progress& progress);

}  // namespace warplab::timing
