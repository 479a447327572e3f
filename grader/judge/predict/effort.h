#pragma once
// A limit for the processor time of a model. A submission's process writes the trace, and the compiler writes the
// intermediate code of a submission, so either can be such that a model of it takes hours.

namespace warplab::predict {

inline constexpr double max_effort_s = 30;  // honest traces take a few seconds

/// Limits the processor time of this thread while it exists. An inner limit does not extend an outer one.
class EffortLimit {
  public:
    explicit EffortLimit(double most_s = max_effort_s);
    ~EffortLimit();
    EffortLimit(const EffortLimit&) = delete;
    EffortLimit& operator=(const EffortLimit&) = delete;

  private:
    double before_s_;
};

/// Note one step of work. Throws std::runtime_error if the limit is exceeded, which it looks up after several steps.
void count_effort();

}  // namespace warplab::predict
