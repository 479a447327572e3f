#pragma once
#include <optional>

#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Return the share of the speed points for one timed dataset: clamp(ln(t_zero/t) / ln(t_zero/t_full), 0, 1) with
/// t_full = 1.2 * reference_s and t_zero = max(sequential_s, 4 * t_full). All times have the same unit. Throws
/// std::invalid_argument if t or reference_s is not above 0.
double speed_share(double t, double reference_s, double sequential_s);

/// Return the points of one stage, only from its checks and measurements. Return nothing if the judge failed (the
/// verdict or a dataset is an error) or if no dataset ran. Speed is pending without measurements, or if the reference
/// was not timed; hygiene is pending without the sanitizer. If a dataset failed, both are 0. If only the CPU backend
/// refused the file, all points are pending. The sanitizer's findings cost the hygiene points and no others. If it
/// cannot inspect the file (a feature that the CPU backend refuses), these points are given in full. An ambiguous
/// measurement counts in the student's favour.
std::optional<Score> score_stage(const Stage& stage, const StageReport& report);

}  // namespace warplab
