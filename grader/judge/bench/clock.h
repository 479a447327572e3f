#pragma once
// The judge's clock, and a guard that keeps a thread on one core.

#include <sched.h>

#include <chrono>

namespace warplab::timing {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Keeps this thread, and the processes it starts, on one core while the object exists.
class Pinned {
  public:
    explicit Pinned(int core) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(core, &cores);
        sched_setaffinity(0, sizeof cores, &cores);
    }
    ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

  private:
    cpu_set_t before_;
};

}  // namespace warplab::timing
