#pragma once
// The samples of a paired benchmark, and the rule that decides when there are enough.

#include <optional>
#include <vector>

#include "grader/judge/bench/measure.h"
#include "grader/model/statistics.h"

namespace warplab::timing {

inline constexpr double target_half_width = 0.005;  // half the width of the ratio's interval

struct Sample {
    double student_wall_s = 0, reference_wall_s = 0;  // by the judge's clock, with the overhead of the commands
    double student_s = 0, reference_s = 0;            // without it
    double reference_event_s = 0;
    SampleConditions conditions = {};
};

/// The samples of student and reference, by round, and what they show so far.
class PairedSamples {
  public:
    PairedSamples(const Effort& effort, bool has_reference) : effort_(effort), has_reference_(has_reference) {}

    std::vector<std::vector<Sample>> rounds;
    int calls = 1;            // calls per sample
    int requested_calls = 1;  // calls for all iterations
    double slowest_s = 0;     // the time of one call of the slower program

    std::vector<Sample> all() const;
    double median_student_s() const { return median_of(all(), &Sample::student_s); }
    double median_reference_s() const { return median_of(all(), &Sample::reference_s); }

    /// Return the median by events instead of the judge's clock: a busy CPU must not make a program look suspicious.
    double median_reference_event_s() const { return median_of(all(), &Sample::reference_event_s); }

    /// Return the median of the round in which the reference was slowest.
    double slowest_reference_event_s() const;

    /// Return whether the program is much faster in the last round than in the first, which had a longer warm-up: it
    /// may be fast only in the first calls of a process.
    bool is_faster_than_first_round() const;

    /// Return the limits for the number of rounds, which are higher if calls are short: on an H200, all calls of one
    /// process may take up to 0.3 us longer than those of another, and a few processes may agree by chance.
    Rounds round_limits() const;

    /// Return whether the last round, which began `round_s` seconds ago, needs no more samples.
    bool round_is_complete(double round_s) const;

    /// Return why no further round is needed; nothing if another round is needed.
    std::optional<Measurement::EndedBy> ended_by() const;

    /// Return the student's time over the reference's.
    Interval ratio() const;

    /// Set the times for all iterations, the ratio, and why the samples ended.
    void fill_in(Measurement& m) const;

  private:
    std::vector<Round> paired_since(std::size_t first) const;
    /// Return the ratio with an interval that remains valid if it is evaluated after each round.
    Interval sequential() const;
    bool points_are_known() const;
    /// Return whether the rounds since the given one determine the ratio with the required precision.
    bool ratio_is_known(std::size_t since = 0) const;
    static double median_of(const std::vector<Sample>& samples, double Sample::*what);

    const Effort& effort_;
    bool has_reference_;
};

}  // namespace warplab::timing
