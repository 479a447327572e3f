#pragma once
#include <optional>

#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// The times up to which a dataset gives all speed points, and from which it gives none.
struct SpeedMarks {
    double full = 0, zero = 0;
};

/// Return the marks, in the unit of the times: full = 1.2 * reference; zero = the time of the previous stage's solution
/// if it is clearly longer (1.4 times the reference's), so that the stage's own step earns the points, otherwise
/// max(sequential, 4 * full). `previous_ratio`: that solution's time divided by the reference's, if there is one.
/// Throws std::invalid_argument if `reference` is not above 0.
SpeedMarks speed_marks(double reference, double sequential, const std::optional<double>& previous_ratio);

/// Return the share of the speed points for one dataset: clamp(ln(zero/t) / ln(zero/full), 0, 1). Throws
/// std::invalid_argument if t is below 0 or NaN.
double speed_share(double t, const SpeedMarks& marks);

/// The speed points that are possible for a modelled time.
struct PointsRange {
    double min = 0, max = 0;
    bool is_decided = false;  // narrow enough that its upper end counts
};

/// Return which part of `points` a modelled ratio may give; nothing if there is no ratio.
std::optional<PointsRange> modelled_points(double points, const ModelledTime& modelled);

/// Return the points of one stage, which depend only on its report. Return nothing if the judge failed (the
/// verdict or a dataset is an error) or if no dataset ran. Speed is pending without measurements, or if the reference
/// was not timed; hygiene is pending without the sanitizer. If a dataset failed, both are 0. If only the CPU backend
/// refused the file, all points are pending. The sanitizer's findings cost only the hygiene points; these are pending
/// if the sanitizer's result is an error or unconfirmed. An ambiguous measurement counts in the student's favour.
/// Modelled times count only if nothing was timed.
std::optional<Score> score_stage(const Stage& stage, const StageReport& report);

}  // namespace warplab
