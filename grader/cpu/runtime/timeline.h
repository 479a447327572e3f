#pragma once
// Tracks which work the host knows to be complete, from streams, events and synchronisation. The backend does all work
// immediately, but on a GPU, work continues while the host and other streams run. Only the sanitizer uses the timeline.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "grader/cpu/include/warplab_cpu/launch.h"

namespace warplab_cpu {

/// A kernel, a copy or a fill.
struct Work {
    std::uint32_t first_epoch = 0, last_epoch = 0;  // the epochs of its accesses (Block::epoch)
    cudaStream_t stream = nullptr;
    std::uint32_t number = 0;  // in its stream, from 1
    int line = 0;
    std::string name;             // the name of the kernel or of CUDA's function
    const void* graph = nullptr;  // the executable graph of which the work is a node; otherwise null
};

class Timeline {
  public:
    /// For each stream, the number of the last work that is complete at some point.
    using Clock = std::map<cudaStream_t, std::uint32_t>;

    void begin_work(cudaStream_t stream, int line, const std::string& name);
    /// End the running work. `host_waits`: whether the host waits for it, as in cudaMemcpy().
    void end_work(bool host_waits);

    void synchronise();
    void synchronise(cudaStream_t stream);
    void synchronise(const void* event);
    void record(const void* event, cudaStream_t stream);
    void wait(cudaStream_t stream, const void* event);
    /// Set the executable graph to which the next work belongs, or null. Return the previous one.
    const void* enter_graph(const void* graph) { return std::exchange(graph_, graph); }
    /// Call a host function as work of a stream.
    template <class Function>
    void run_in(cudaStream_t stream, Function function) {
        const Clock before = host_;
        synchronise(stream);
        function();
        host_ = before;
    }

    /// Return whether some work may still run while the host continues.
    bool has_unfinished_work() const { return !works_.empty(); }
    /// Return whether some other work may run at the same time as the running work.
    bool may_run_with_other_work() const { return has_concurrent_work_; }
    const Work& running() const { return works_.back(); }
    /// Return the work that made an access in this epoch if nothing made the host wait for that work; otherwise, null.
    const Work* unfinished_work(std::uint32_t epoch) const { return work_after(epoch, host_); }
    /// Return the same, relative to the running work.
    const Work* unordered_work(std::uint32_t epoch) const {
        return has_concurrent_work_ ? work_after(epoch, running_) : nullptr;
    }
    /// Return a piece of work that neither the host nor the next work of the default stream waits for; null if there is
    /// none.
    const Work* unjoined_work();

  private:
    /// The last work of a stream.
    struct Last {
        std::uint32_t number = 0;
        bool blocking = false;  // the stream may be destroyed, so this is its flag when the work began
    };

    static cudaStream_t normal(cudaStream_t stream);
    static void raise(Clock& clock, const Clock& other);
    Clock reached(cudaStream_t stream);
    void host_waits_for(const Clock& clock);
    const Work* work_after(std::uint32_t epoch, const Clock& clock) const;

    std::deque<Work> works_;              // work that the host does not know to be complete, and some more, in order
    Clock host_;                          // the work that the host knows to be complete
    std::map<cudaStream_t, Clock> next_;  // by stream: the work for which the stream's next work waits
    std::map<cudaStream_t, Last> last_;
    std::map<const void*, Clock> events_;
    Clock running_;  // the work for which the running work has waited
    bool has_concurrent_work_ = false;
    const void* graph_ = nullptr;
    std::uint32_t last_epoch_ = 0;  // the last epoch of any host thread's work
};

extern Timeline timeline;

}  // namespace warplab_cpu
