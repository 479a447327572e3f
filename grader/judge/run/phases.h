#pragma once
// Progress of a stage: the messages for the user, and the time of each phase.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/model/report.h"

namespace warplab {

/// Receives the activity that begins now, and its phase.
using Progress = std::function<void(GradingPhase phase, const std::string& what)>;

/// Measures the wall time of phases, which follow each other without a gap. A phase can be entered several times.
class PhaseClock {
  public:
    void enter(GradingPhase phase);
    /// End the current phase and return the times of all phases, one entry for each.
    std::vector<PhaseTime> finish();

  private:
    void leave();

    std::optional<GradingPhase> current_;
    std::chrono::steady_clock::time_point begin_;
    std::vector<PhaseTime> times_;
};

}  // namespace warplab
