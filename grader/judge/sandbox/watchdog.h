#pragma once
// Watches the judge's system calls that depend on a submission: waiting for a killed process, closing its descriptors.
// They normally return at once; if one does not, the watchdog interrupts it. If even that does not help (the kernel
// itself hangs), it ends the judge with a message instead of waiting for hours.

#include <chrono>

namespace warplab {

class Watchdog {
  public:
    /// While this object exists, its thread must not stay in one system call for longer than `limit_s`. `doing`: the
    /// judge's activity, for the message, such as "ending a program".
    explicit Watchdog(const char* doing, double limit_s = 10);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Return whether the limit has passed: if so, do not repeat a call that was interrupted.
    bool overdue() const;

  private:
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace warplab
