#include "grader/judge/run/phases.h"

#include <algorithm>

namespace warplab {

void PhaseClock::enter(GradingPhase phase) {
    leave();
    current_ = phase;
}

std::vector<PhaseTime> PhaseClock::finish() {
    leave();
    current_.reset();
    return times_;
}

void PhaseClock::leave() {
    const auto now = std::chrono::steady_clock::now();
    if (current_) {
        auto entry =
            std::find_if(times_.begin(), times_.end(), [&](const PhaseTime& t) { return t.phase == current_; });
        if (entry == times_.end()) entry = times_.insert(entry, {*current_, 0});
        entry->wall_s += std::chrono::duration<double>(now - begin_).count();
    }
    begin_ = now;
}

}  // namespace warplab
