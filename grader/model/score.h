#pragma once
#include <optional>

#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// The share of the speed points for one timed dataset: clamp(ln(t_zero/t) / ln(t_zero/t_full), 0, 1) with
/// t_full = 1.2 * reference_s and t_zero = max(sequential_s, 4 * t_full). All in the same unit, t and reference_s
/// above 0; throws std::invalid_argument otherwise.
double speed_share(double t, double reference_s, double sequential_s);

/// Points of one stage, from what was checked and measured and nothing else. None when our side broke (the verdict or
/// a dataset is an error) or when no dataset ran. Without measurements, or where the reference was not timed, speed
/// is pending; without check mode hygiene is. Where a dataset failed both are 0. All points of a file that only the CPU
/// backend refused are pending. What check mode found costs the
/// hygiene points and no others; where it cannot look (a feature that the CPU backend refuses) they are given in full.
/// An ambiguous measurement counts for the student.
std::optional<Score> score_stage(const Stage& stage, const StageReport& report);

}  // namespace warplab
