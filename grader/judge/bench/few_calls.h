#pragma once
// Short commands (of few calls), timed after the samples. The inputs of the samples overlap, so code can keep results
// and use them in later calls. With new inputs, it cannot. Code can also run many calls of a sample at the same time,
// because the inputs of all calls exist before the first; in a command of few calls, this saves little.

#include <cstdint>

#include "grader/judge/bench/subject.h"

namespace warplab::timing {

/// The seconds of a call: the minimum in commands of few calls, and the median in the samples.
struct CallTimes {
    int calls = 1;                  // calls per command
    double new_s = 0, known_s = 0;  // the program's times in such commands, on new inputs and on those of the samples
    double call_s = 0;              // the program's time in the samples
    double reference_s = 0;         // the reference's time in such commands, on inputs of the samples
    double reference_call_s = 0;    // the reference's time in the samples
};

/// Return whether the program takes clearly longer for new inputs than for inputs that it may have seen.
bool keeps_results(const CallTimes& times);

/// Return whether a call takes clearly longer in a command of few calls than in the samples.
bool needs_many_calls(const CallTimes& times);

/// Return the number of calls in a command of few calls, from the seconds of one call.
int calls_per_short_command(double call_s);

/// Return whether earlier calls can help with a later one: there is one input, so its windows overlap or repeat.
bool can_keep_results(const Lab& lab);

/// Times commands of few calls, of a program and of the reference solution.
class FewCalls {
  public:
    /// `fresh`: calls on inputs that are not in the pool; more are made if there are too few.
    FewCalls(const StageRun& run, const Dataset& dataset, const Pool& pool, std::vector<Problem> fresh,
             std::uint64_t seed)
        : run_(run), dataset_(dataset), pool_(pool), fresh_(std::move(fresh)), random_(seed) {}

    /// Make commands of few calls on new inputs and on inputs of the samples, more of them if the program seems to keep
    /// results. `call_s` and `reference_call_s` are the seconds of a call in the samples. Return a failure if an
    /// output is wrong, or the program fails.
    std::optional<Failure> time_on_new_inputs(Subject& program, Subject& reference, double call_s,
                                              double reference_call_s);

    /// Make commands of few calls on inputs of the samples, more of them if the program seems to need many calls.
    /// Their output samples replace the program's earlier ones. Return a failure if the program fails.
    std::optional<Failure> time_on_known_inputs(Subject& program, Subject& reference, double call_s,
                                                double reference_call_s);

    const CallTimes& times() const { return times_; }

  private:
    void begin(const Subject& program, const Subject& reference, double call_s, double reference_call_s);
    void time_known(Subject& program, Subject& reference);
    std::optional<Failure> time_new(Subject& program);
    std::optional<Failure> find_wrong_output(Subject& program, const Problem& call, std::uint32_t slot) const;
    Problem draw_known();
    std::vector<Problem> take_fresh();

    const StageRun& run_;
    const Dataset& dataset_;
    const Pool& pool_;
    std::vector<Problem> fresh_;
    std::mt19937_64 random_;
    CallTimes times_;
};

}  // namespace warplab::timing
