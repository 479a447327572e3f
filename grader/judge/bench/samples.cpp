#include "grader/judge/bench/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warplab::timing {

namespace {

constexpr double max_half_width = 0.01;  // half the width of the ratio's interval; a wider interval is ambiguous
constexpr double short_call_s = 60e-6;
constexpr double much_faster = 1.3;
constexpr double known_points = 0.005;  // points are known if their interval is at most this wide

/// Return how much a round's ratio varies between processes, for calls that take `call_s`: the standard deviation of
/// its logarithm. In 91 first rounds of reference solutions, while two other gradings used the same H100, it was 0.0097
/// (handouts/results/nvidia-h100-80gb-hbm3.json).
double deviation_of_rounds(double call_s) { return std::hypot(0.01, 0.2e-6 / call_s); }

}  // namespace

std::vector<Sample> PairedSamples::all() const {
    std::vector<Sample> all;
    for (const std::vector<Sample>& round : rounds) all.insert(all.end(), round.begin(), round.end());
    return all;
}

double PairedSamples::slowest_reference_event_s() const {
    double slowest = 0;
    for (const std::vector<Sample>& round : rounds)
        slowest = std::max(slowest, median_of(round, &Sample::reference_event_s));
    return slowest;
}

bool PairedSamples::is_faster_than_first_round() const {
    return much_faster * median_of(rounds.back(), &Sample::student_s) < median_of(rounds.front(), &Sample::student_s);
}

Rounds PairedSamples::round_limits() const {
    return has_reference_ && slowest_s < short_call_s ? effort_.rounds_of_short_calls : effort_.rounds;
}

bool PairedSamples::round_is_complete(double round_s) const {
    return static_cast<int>(rounds.back().size()) >= effort_.samples &&
           (!has_reference_ || round_s > effort_.round_s || points_are_known() || ratio_is_known(rounds.size() - 1));
}

std::optional<Measurement::EndedBy> PairedSamples::ended_by() const {
    using enum Measurement::EndedBy;
    const auto [min, max] = round_limits();
    const int begun = static_cast<int>(rounds.size());
    if (points_are_known()) return points_known;
    if (begun >= min && !has_reference_) return unknown;
    if (begun >= min && begun % 2 == 0 && ratio_is_known()) return ratio_known;
    return begun >= max ? std::optional(most_rounds) : std::nullopt;
}

Interval PairedSamples::ratio() const { return points_are_known() ? sequential() : paired_ratio(paired_since(0)); }

void PairedSamples::fill_in(Measurement& m) const {
    const double scale = static_cast<double>(requested_calls) / calls;
    m.calls_per_sample = calls;
    m.cut = calls < requested_calls;
    if (m.cut)
        m.caveats.push_back(fmt::format("samples were cut to {} of {} calls and scaled", calls, requested_calls));
    for (const Sample& sample : all()) {
        m.samples_s.push_back(sample.student_s * scale);
        if (has_reference_) m.reference_samples_s.push_back(sample.reference_s * scale);
        m.conditions.push_back(sample.conditions);
    }
    for (const auto& round : rounds) m.samples_of_rounds.push_back(static_cast<int>(round.size()));
    m.median_s = median(m.samples_s);
    if (!has_reference_) return;
    m.reference_s = median_reference_s() * scale;
    m.reference_ratio = ratio();
    m.ended_by = ended_by().value_or(Measurement::EndedBy::most_rounds);
    m.ambiguous = m.ended_by != Measurement::EndedBy::points_known && half_width(*m.reference_ratio) > max_half_width;
    if (m.ambiguous) m.caveats.push_back("ambiguous: the ratio to the reference is known only within its interval");
}

Interval PairedSamples::sequential() const {
    return sequential_ratio(paired_since(0), deviation_of_rounds(median_reference_s() / calls));
}

bool PairedSamples::points_are_known() const {
    if (!has_reference_ || !effort_.points) return false;
    const Interval ratio = sequential();
    const double reference_s = median_reference_s() / calls * requested_calls;
    const double width = effort_.points(ratio.low, reference_s) - effort_.points(ratio.high, reference_s);
    return width <= known_points;  // false if the width is NaN
}

bool PairedSamples::ratio_is_known(std::size_t since) const {
    return half_width(paired_ratio(paired_since(since))) <= target_half_width;
}

std::vector<Round> PairedSamples::paired_since(std::size_t first) const {
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

double PairedSamples::median_of(const std::vector<Sample>& samples, double Sample::*what) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(sample.*what);
    return median(values);
}

}  // namespace warplab::timing
