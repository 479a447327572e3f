#pragma once
// Which work that the host started is known to be complete, by streams, events and synchronisation. The backend does
// all work at once; on a GPU it continues while the host and other streams do. Only the sanitizer uses it.

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "grader/cpu/include/warplab_cpu/launch.h"

namespace warplab_cpu {

/// A kernel, a copy or a fill.
struct Work {
    std::uint32_t first_epoch = 0, last_epoch = 0;  // of its accesses (Block::epoch)
    cudaStream_t stream = nullptr;
    std::uint32_t number = 0;  // in its stream, from 1
    int line = 0;
    std::string name;  // of the kernel or of CUDA's function
};

class Timeline {
  public:
    /// For each stream, the number of the last work that is complete at some point.
    using Clock = std::map<cudaStream_t, std::uint32_t>;

    void begin_work(cudaStream_t stream, int line, const std::string& name);
    /// The host waits for some work, as cudaMemcpy() does.
    void end_work(bool host_waits);

    void synchronise();
    void synchronise(cudaStream_t stream);
    void synchronise(const void* event);
    void record(const void* event, cudaStream_t stream);
    void wait(cudaStream_t stream, const void* event);
    /// Calls a function of the host in a stream's order.
    template <class Function>
    void run_in(cudaStream_t stream, Function function) {
        const Clock before = host_;
        synchronise(stream);
        function();
        host_ = before;
    }

    /// Return whether any work may still run beside the host or the running work.
    bool host_is_ahead() const { return !works_.empty(); }
    bool runs_beside() const { return beside_; }
    const Work& running() const { return works_.back(); }
    /// The work that an access belongs to, if nothing makes the host wait for it; else null.
    const Work* unfinished(std::uint32_t epoch) const { return after(epoch, host_); }
    /// The same for the running work.
    const Work* unordered(std::uint32_t epoch) const { return beside_ ? after(epoch, running_) : nullptr; }

  private:
    static cudaStream_t normal(cudaStream_t stream);
    static void raise(Clock& clock, const Clock& other);
    Clock reached(cudaStream_t stream);
    void host_waits_for(const Clock& clock);
    const Work* after(std::uint32_t epoch, const Clock& clock) const;

    std::deque<Work> works_;              // those that the host does not know to be complete, and some more, in order
    Clock host_;                          // what the host knows
    std::map<cudaStream_t, Clock> next_;  // what a stream's next work waits for
    std::map<cudaStream_t, std::uint32_t> last_;
    std::map<const void*, Clock> events_;
    Clock running_;  // what the running work has waited for
    bool beside_ = false;
    std::uint32_t last_epoch_ = 0;  // of the work of all host threads
};

extern Timeline timeline;

}  // namespace warplab_cpu
