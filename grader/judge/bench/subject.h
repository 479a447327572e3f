#pragma once
// One subject of a paired benchmark: the student's code, or the reference solution.

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "grader/judge/bench/pool.h"
#include "grader/judge/run/buffers.h"

namespace warplab::timing {

inline constexpr std::size_t timed_guard_bytes = 4096;
inline constexpr double shortest_s = 1e-9;  // for a command that takes no longer than an empty one

/// An output sample: the runner's values in part of one output, and the inputs of the call.
struct OutputSample {
    std::vector<std::size_t> window;  // per buffer: the first element in the pool
    std::size_t buffer, first;
    Array found;
    int sample;
};

/// One solution being timed: its process, its slots and its output samples.
class Subject {
  public:
    Subject(StageRun& run, const Pool& pool, std::uint32_t slots, std::uint64_t seed);

    /// Start the process. It ends when the calling thread ends.
    void start();

    /// Wait until the process has opened the device or has failed; open() reports the failure.
    void wait();

    /// Give a newly started process access to the subject's buffers. The first call allocates them.
    void open();
    void end();

    /// Swap memory between two rounds of processes, because the memory's location affects times by up to a few percent.
    void exchange_memory(Subject& other) { buffers_->exchange_memory(*other.buffers_); }

    /// Return the seconds of `calls` calls by the judge's clock, minus `gap_s` per command; each command makes at most
    /// one call per slot. If `sample` is not negative, it is the number of the timed sample: draw output samples and
    /// check the guard zones. If `failure` is set afterwards, the result is meaningless.
    double time_calls(int calls, int sample);

    /// Make a call on each of the given inputs, at most one per slot, in one command. Return the seconds of a call by
    /// the judge's clock, minus `gap_s` for the command.
    double time_calls_on(const std::vector<Problem>& calls);

    /// Return an output that the last command left in a slot.
    Array read_output(std::size_t buffer, std::uint32_t slot) { return buffers_->read(buffer, slot); }
    std::uint32_t slots() const { return static_cast<std::uint32_t>(windows_.size()); }

    /// Return the seconds of the last time_calls() by the judge's clock, with the overhead of its commands.
    double wall_s() const { return wall_s_; }

    /// Return the number of commands in which time_calls() makes `calls` calls.
    int commands_of(int calls) const { return (calls - 1) / static_cast<int>(slots()) + 1; }

    /// Return the seconds between events on the GPU in the last time_calls(). The process itself reports them: use them
    /// only for the reference, whose process is trusted.
    double event_s() const { return event_s_; }

    /// Return the median seconds of commands without calls, by the judge's clock; 0 after a failure.
    double time_empty_commands();

    /// Suspend the process, so that it does not use the processor while another one is timed, and resume it.
    void pause() { run_.pause_session(); }
    void resume() { run_.resume_session(); }

    /// Return this solution's values in the part that an output sample covers, for the same inputs. Set `failure` if
    /// the call fails.
    Array outputs_for(const OutputSample& output_sample);
    void poison_all() { buffers_->poison_all(); }
    std::vector<OutputSample>& output_samples() { return output_samples_; }

    /// Return the median difference between a command's time and the time between its events, since the last
    /// forget_gaps().
    double median_gap_s() const;
    void forget_gaps() { gaps_.clear(); }

    std::optional<Failure> failure;
    double gap_s = 0;  // a command's overhead, for the messages and the GPU's switch to the runner

  private:
    void allocate();
    Session::Reply command(std::uint32_t calls);

    /// Copy inputs to the judge's own memory on the device, which the process cannot access. From there, new inputs
    /// reach the slots as quickly as the inputs of the samples do, so that a kernel that the process launched earlier,
    /// and that waits for inputs, gains no time.
    std::vector<std::vector<std::unique_ptr<Region>>> stage_inputs(const std::vector<Problem>& calls) const;

    /// Call a function that writes inputs to the slots, while the process is suspended, so that the process cannot
    /// begin to work on the inputs before the command.
    void fill_slots(const std::function<void()>& fill);

    /// Fill the first `calls` slots with inputs from unpredictable offsets of the pool.
    void move_inputs(std::uint32_t calls);
    void copy_inputs(std::uint32_t slot);
    double time_command(std::uint32_t calls);

    /// Make calls on the inputs that are in the slots, and return their seconds.
    double time_filled_slots(std::uint32_t calls);

    /// Keep randomly chosen parts of outputs and, at the end of a sample, up to 64 MiB of each output of one slot.
    void keep_parts(std::uint32_t calls, int sample, bool last);
    void keep_part(std::size_t buffer, std::uint32_t slot, std::size_t bytes, int sample);
    void check_guards();

    StageRun& run_;
    const Pool& pool_;
    Problem shape_;
    std::mt19937_64 random_;
    Poison poison_;
    std::optional<Buffers> buffers_;
    std::vector<std::vector<std::size_t>> windows_;  // per slot and buffer, the first element in the pool
    std::vector<OutputSample> output_samples_;
    std::vector<double> gaps_;
    std::size_t kept_bytes_ = 0;
    double event_s_ = 0, wall_s_ = 0;
    bool open_ = false;
};

}  // namespace warplab::timing
