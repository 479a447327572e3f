#include "grader/cpu/runtime/timeline.h"

#include <algorithm>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {

Timeline timeline;

namespace {

/// Return whether a stream and the default stream wait for each other.
bool is_blocking(cudaStream_t stream) {
    unsigned flags = 0;
    return cudaStreamGetFlags(stream, &flags) == cudaSuccess && !(flags & cudaStreamNonBlocking);
}

}  // namespace

cudaStream_t Timeline::normal(cudaStream_t stream) { return stream == cudaStreamLegacy ? nullptr : stream; }

void Timeline::raise(Clock& clock, const Clock& other) {
    for (const auto& [stream, number] : other) clock[stream] = std::max(clock[stream], number);
}

/// Return the work that is complete once the stream's work so far is complete. The default stream and blocking streams
/// wait for each other.
Timeline::Clock Timeline::reached(cudaStream_t stream) {
    stream = normal(stream);
    Clock clock = next_[stream];
    clock[stream] = last_[stream].number;
    for (const auto& [other, last] : last_) {
        const bool takes_turns = other != stream && (stream ? !other && is_blocking(stream) : last.blocking);
        if (!takes_turns) continue;
        raise(clock, next_[other]);
        clock[other] = std::max(clock[other], last.number);
    }
    return clock;
}

void Timeline::begin_work(cudaStream_t stream, int line, const std::string& name) {
    block_state.epoch = last_epoch_;
    running_ = reached(stream);
    raise(running_, host_);
    stream = normal(stream);
    next_[stream] = running_;
    Last& last = last_[stream];
    last = {last.number + 1, is_blocking(stream)};
    works_.push_back({block_state.epoch + 1, block_state.epoch + 1, stream, last.number, line, name, graph_});
    has_concurrent_work_ = std::any_of(works_.begin(), works_.end() - 1, [&](const Work& work) {
        const auto iterator = running_.find(work.stream);
        return iterator == running_.end() || iterator->second < work.number;
    });
}

void Timeline::end_work(bool host_waits) {
    Work& work = works_.back();
    work.last_epoch = last_epoch_ = block_state.epoch;
    has_concurrent_work_ = false;
    if (host_waits) {
        raise(running_, {{work.stream, work.number}});
        host_waits_for(running_);
    }
}

void Timeline::synchronise() {
    const DeviceLock lock = lock_device();
    for (const auto& [stream, last] : last_) host_[stream] = last.number;
    works_.clear();
}

void Timeline::synchronise(cudaStream_t stream) {
    const DeviceLock lock = lock_device();
    host_waits_for(reached(stream));
}

void Timeline::synchronise(const void* event) {
    const DeviceLock lock = lock_device();
    host_waits_for(events_[event]);
}

void Timeline::record(const void* event, cudaStream_t stream) {
    const DeviceLock lock = lock_device();
    events_[event] = reached(stream);
}

void Timeline::wait(cudaStream_t stream, const void* event) {
    const DeviceLock lock = lock_device();
    raise(next_[normal(stream)], events_[event]);
}

void Timeline::host_waits_for(const Clock& clock) {
    raise(host_, clock);
    while (!works_.empty() && works_.front().number <= host_[works_.front().stream]) works_.pop_front();
}

const Work* Timeline::unjoined_work() {
    Clock known = reached(nullptr);
    raise(known, host_);
    const auto iterator =
        std::ranges::find_if(works_, [&](const Work& work) { return work.number > known[work.stream]; });
    return iterator == works_.end() ? nullptr : &*iterator;
}

const Work* Timeline::work_after(std::uint32_t epoch, const Clock& clock) const {
    const auto iterator = std::lower_bound(works_.begin(), works_.end(), epoch,
                                           [](const Work& work, std::uint32_t at) { return work.last_epoch < at; });
    if (iterator == works_.end() || epoch < iterator->first_epoch) return nullptr;
    const auto latest = clock.find(iterator->stream);
    return latest != clock.end() && iterator->number <= latest->second ? nullptr : &*iterator;
}

}  // namespace warplab_cpu
