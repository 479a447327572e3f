#pragma once
// Watches system calls of the judge that end only when something of a submission's ends: waiting for a killed process,
// closing what it held. They return at once; if one does not, the watchdog interrupts it, and where even that does not
// help (the kernel itself hangs), it ends the judge with a message instead of waiting for hours.

#include <chrono>

namespace warplab {

class Watchdog {
  public:
    /// While it lives, this thread must not stay in one system call for longer than `limit_s`. `doing`: what the judge
    /// does, for the message, such as "ending a program".
    explicit Watchdog(const char* doing, double limit_s = 10);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Whether the limit has passed: a call that was interrupted is not to be made again.
    bool overdue() const;

  private:
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace warplab
