#include "grader/judge/sandbox/budget.h"

#include <algorithm>

namespace warplab {

double Budget::wall_left_s() const {
    const std::lock_guard lock(mutex_);
    return std::max(0.0, wall_left_s_);
}

double Budget::cpu_left_s() const {
    const std::lock_guard lock(mutex_);
    return std::max(0.0, cpu_left_s_);
}

void Budget::charge_wall(double seconds) {
    const std::lock_guard lock(mutex_);
    wall_left_s_ -= seconds;
}

void Budget::charge_cpu(double seconds) {
    const std::lock_guard lock(mutex_);
    cpu_left_s_ -= seconds;
}

}  // namespace warplab
