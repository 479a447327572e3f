#pragma once
// Limits the processor time of a model. A submission determines the trace and the intermediate code, either of which
// could make a model take hours.

namespace warplab::predict {

inline constexpr double max_effort_s = 30;  // honest traces take a few seconds

/// Limits the processor time of this thread while it exists. An inner limit does not extend an outer one.
class EffortLimit {
  public:
    explicit EffortLimit(double max_s = max_effort_s);
    ~EffortLimit();
    EffortLimit(const EffortLimit&) = delete;
    EffortLimit& operator=(const EffortLimit&) = delete;

  private:
    double before_s_;
};

/// Count one step of work. Throw std::runtime_error if the limit is exceeded; the clock is read only after several
/// steps.
void count_effort();

}  // namespace warplab::predict
