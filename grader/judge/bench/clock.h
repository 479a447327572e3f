#pragma once
// The judge's clock, and a core to stay on.

#include <sched.h>

#include <chrono>

namespace warplab::timing {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Keeps this thread, and what it starts, on one core while it lives.
class Pinned {
  public:
    explicit Pinned(int core) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

  private:
    cpu_set_t before_;
};

}  // namespace warplab::timing
