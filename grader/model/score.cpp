#include "grader/model/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "grader/common/text.h"

namespace warplab {
namespace {

constexpr double full_mark_ratio = 1.2;  // multiple of the reference's time that still gives all points
constexpr double zero_mark_ratio = 4;    // multiple of the time for full marks, unless the sequential CPU is slower
constexpr double clear_ratio = 1.4;      // multiple of the reference's time above which a solution is clearly slower
constexpr double max_open = 0.1;         // share of the points that modelled times may leave open
constexpr auto no_points_yet = "no points until every dataset passes";

Score pending_score(const Stage& stage) {
    Score score;
    const auto pend = [](double points, double& max, bool& pending, std::string& target, const std::string& reason) {
        max = points;
        pending = points > 0;
        if (pending) target = reason;
    };
    const std::string with_correctness = "decided on a GPU, together with correctness";
    pend(stage.points.correctness, score.correctness_max, score.correctness_pending, score.correctness_why,
         "grading on a GPU decides, because the CPU backend refuses the file");
    pend(stage.points.hygiene, score.hygiene_max, score.hygiene_pending, score.hygiene_why, with_correctness);
    pend(stage.points.speed, score.speed_max, score.speed_pending, score.speed_why, with_correctness);
    return score;
}

/// Return the share of the datasets' weight that passed; 0 if no passed dataset has elements. Return nothing if no
/// dataset ran.
std::optional<double> correct_share(const StageReport& report) {
    if (report.compilation.verdict == Verdict::failed) return 0.0;
    double earned = 0, possible = 0;
    bool worked = false;  // an untouched starter passes the datasets without elements
    for (const auto& check : report.checks) {
        if (check.skipped) continue;
        possible += check.points;
        if (check.verdict != Verdict::passed) continue;
        earned += check.points;
        worked = worked || !check.empty;
    }
    if (possible == 0) return std::nullopt;
    return worked ? earned / possible : 0;
}

bool any_passed(const StageReport& report) {
    return std::ranges::any_of(report.checks, [](const Check& check) {
        return !check.skipped && check.verdict == Verdict::passed && check.points > 0;
    });
}

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

SpeedMarks marks_of(const Measurement& measured) {
    return speed_marks(*measured.reference_s, measured.sequential_s, measured.previous_ratio);
}

/// Return student / reference for the score: the median or, if an ambiguous interval contains a mark, its better end.
double counted_ratio(const Measurement& measured) {
    const double reference_s = *measured.reference_s;
    if (!measured.reference_ratio) return measured.median_s / reference_s;
    const auto& ratio = *measured.reference_ratio;
    const auto holds = [&](double mark) { return ratio.low <= mark && mark <= ratio.high; };
    const SpeedMarks marks = marks_of(measured);
    const bool for_the_student =
        measured.ambiguous && (holds(marks.full / reference_s) || holds(marks.zero / reference_s));
    return for_the_student ? ratio.low : ratio.median;
}

/// Return the reason why the speed cannot be judged yet; empty if it can.
std::string why_speed_pends(const std::vector<Measurement>& measurements) {
    if (measurements.empty()) return "not timed; grading on a GPU adds the speed points";
    for (const auto& measured : measurements) {
        if (!measured.reference_s)
            return "no reference solution was timed in alternation; to get speed points, grade on a machine with the "
                   "solutions";
        if (!is_time(*measured.reference_s) || !is_time(counted_ratio(measured)))
            return "the timing of " + measured.dataset + " has no valid time; grade again on a GPU";
    }
    return "";
}

double mean_speed_share(const std::vector<Measurement>& measurements) {
    double sum = 0;
    for (const auto& measured : measurements)
        sum += speed_share(counted_ratio(measured) * *measured.reference_s, marks_of(measured));
    return sum / static_cast<double>(measurements.size());
}

/// Score the hygiene. Only code that works gets hygiene points: an empty kernel has no race.
void score_hygiene(const Stage& stage, const StageReport& report, Score& score) {
    score.hygiene_max = stage.points.hygiene;
    if (score.hygiene_max == 0) return;
    if (outputs_failed(report)) {
        score.hygiene_why = no_points_yet;
        return;
    }
    const auto& sanitizer = report.check_mode;
    using enum SanitizerResult::Verdict;
    score.hygiene_pending = !sanitizer || sanitizer->verdict == error || sanitizer->verdict == unconfirmed;
    if (!sanitizer)
        score.hygiene_why = "the sanitizer was skipped";
    else if (sanitizer->verdict == failed)
        score.hygiene_why = "no points, because the sanitizer found an error";
    else
        score.hygiene_why = sanitizer->remark;
    if (sanitizer && sanitizer->verdict == passed) score.hygiene = score.hygiene_max;
}

/// Score the speed by modelled times. If their interval leaves more than a tenth of the points open, a GPU decides;
/// otherwise its better end counts, as in an ambiguous measurement.
void score_modelled(const ModelledTime& modelled, Score& score) {
    score.speed_modelled = score.speed_pending = true;
    const auto range = modelled_points(score.speed_max, modelled);
    if (!range) {
        score.speed_why = fmt::format("not modelled: {}; grading on a GPU adds the speed points", modelled.why_not);
        return;
    }
    score.speed_pending = !range->is_decided;
    if (range->is_decided) score.speed = range->max;
    const Interval& ratio = *modelled.reference_ratio;
    score.speed_why = fmt::format(
        "modelled for the {}, not measured: {:.2f} times the reference's modelled time ({:.2f} to {:.2f}), {} to {} of "
        "{} points; a GPU decides",
        modelled.gpu, ratio.median, ratio.low, ratio.high, format_points(range->min), format_points(range->max),
        format_points(score.speed_max));
}

void score_speed(const Stage& stage, const StageReport& report, Score& score) {
    score.speed_max = stage.points.speed;
    if (score.speed_max == 0) return;
    if (outputs_failed(report)) {
        score.speed_why = no_points_yet;
        return;
    }
    std::vector<Measurement> scored = report.measurements;
    std::erase_if(scored, [](const Measurement& measured) { return !measured.scored; });
    if (scored.empty() && report.modelled_time) return score_modelled(*report.modelled_time, score);
    score.speed_why = why_speed_pends(scored);
    score.speed_pending = !score.speed_why.empty();
    if (!score.speed_pending) score.speed = score.speed_max * mean_speed_share(scored);
}

}  // namespace

SpeedMarks speed_marks(double reference, double sequential, const std::optional<double>& previous_ratio) {
    if (!is_time(reference)) throw std::invalid_argument("speed_marks needs a time above 0");
    const double full = full_mark_ratio * reference;
    if (previous_ratio && is_time(*previous_ratio) && *previous_ratio >= clear_ratio)
        return {full, *previous_ratio * reference};
    const double min_mark = zero_mark_ratio * full;
    return {full, sequential > min_mark ? sequential : min_mark};
}

double speed_share(double t, const SpeedMarks& marks) {
    if (!(t >= 0)) throw std::invalid_argument("speed_share needs a time");
    return std::clamp(std::log(marks.zero / t) / std::log(marks.zero / marks.full), 0.0, 1.0);
}

std::optional<PointsRange> modelled_points(double points, const ModelledTime& modelled) {
    if (!modelled.reference_ratio || !modelled.reference_s || !is_time(*modelled.reference_s)) return std::nullopt;
    std::vector<std::optional<double>> previous_ratios = {std::nullopt};
    if (const auto& ratio = modelled.previous_ratio)
        previous_ratios = {ratio->low, std::clamp(clear_ratio, ratio->low, ratio->high), ratio->high};
    double min = points, max = 0;
    for (const auto& previous_ratio : previous_ratios) {
        const SpeedMarks marks = speed_marks(1, modelled.sequential_s / *modelled.reference_s, previous_ratio);
        min = std::min(min, points * speed_share(modelled.reference_ratio->high, marks));
        max = std::max(max, points * speed_share(modelled.reference_ratio->low, marks));
    }
    return PointsRange{min, max, max - min <= max_open * points};
}

std::optional<Score> score_stage(const Stage& stage, const StageReport& report) {
    if (report.verdict == Verdict::error) return std::nullopt;
    if (needs_gpu(report.compilation)) return pending_score(stage);
    const auto share = correct_share(report);
    if (!share) return std::nullopt;
    Score score;
    score.correctness_max = stage.points.correctness;
    score.correctness = score.correctness_max * *share;
    if (*share == 0 && any_passed(report)) score.correctness_why = "the dataset that passed has no elements to work on";
    score_hygiene(stage, report, score);
    score_speed(stage, report, score);
    return score;
}

}  // namespace warplab
