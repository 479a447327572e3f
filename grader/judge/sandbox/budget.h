#pragma once
// The time that all processes of one submission may use together for compiling, untimed calls and child processes. Each
// step also has its own limit; the budget stops submissions that repeatedly stay just below those limits.

#include <mutex>

namespace warplab {

class Budget {
  public:
    Budget(double wall_s, double cpu_s) : wall_s_(wall_s), cpu_s_(cpu_s), wall_left_s_(wall_s), cpu_left_s_(cpu_s) {}

    double wall_s() const { return wall_s_; }
    double cpu_s() const { return cpu_s_; }

    /// Return the remaining seconds, never below 0.
    double wall_left_s() const;
    double cpu_left_s() const;
    bool spent() const { return wall_left_s() <= 0 || cpu_left_s() <= 0; }

    void charge_wall(double seconds);
    void charge_cpu(double seconds);

  private:
    mutable std::mutex mutex_;  // a stage's compilations run in parallel
    double wall_s_, cpu_s_, wall_left_s_, cpu_left_s_;
};

}  // namespace warplab
