#pragma once
// Watches the judge's system calls that depend on a submission, such as waiting for a killed process and closing its
// descriptors. They normally return at once; the watchdog interrupts a call that does not. If that does not help,
// because the kernel itself hangs, the watchdog ends the judge with a message.

#include <chrono>

namespace warplab {

class Watchdog {
  public:
    /// If this object still exists after `limit_s`, the system calls of the thread that made it are interrupted.
    /// `doing`: the judge's activity, for the message, such as "ending a program".
    explicit Watchdog(const char* doing, double limit_s = 10);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Return whether the limit has passed. If so, do not repeat an interrupted call.
    bool overdue() const;

  private:
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace warplab
