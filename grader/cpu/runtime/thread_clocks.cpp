#include "grader/cpu/runtime/thread_clocks.h"

#include <algorithm>

namespace warplab_cpu {
namespace {

constexpr unsigned lanes_per_warp = 32;

/// End a thread's step and return the next step, before which the thread's accesses so far happen.
std::uint32_t end_step(std::uint32_t& step) {
    if (step < Mark::last_step) ++step;
    return step == Mark::last_step ? step + 1 : step;
}

}  // namespace

void GridBarriers::reach(std::uint32_t block, std::uint32_t generation) {
    const auto arrival = arrivals_.find(block);
    const bool arrived = arrival != arrivals_.end();
    Reached& here = reached_[block];
    here = {here.count + 1, here.last, arrived ? arrival->second : generation};
    if (arrived) arrivals_.erase(arrival);
}

bool GridBarriers::is_before_last_of(std::uint32_t block, const Mark& earlier) const {
    const auto here = reached_.find(block), there = reached_.find(earlier.block);
    if (here == reached_.end() || there == reached_.end()) return false;
    const Reached& other = there->second;
    return earlier.generation <= (other.count == here->second.count ? other.last : other.last_but_one);
}

void ThreadClocks::begin_grid() {
    words_.clear();
    published_.clear();
    last_publication_ = {};
    any_fence_ = any_step_ = false;
}

void ThreadClocks::begin_after(const ThreadClocks& other) {
    begin_grid();
    begin_block(other.block_);
    generation_ = other.generation_;
    any_step_ = other.any_step_;
    warps_ = other.warps_;
    for (unsigned linear = 0; any_step_ && linear < threads_.size(); ++linear) {
        const Thread& known = other.threads_[linear];
        if (known.block != block_ || known.generation != generation_) continue;
        Thread& thread = running({block_, generation_, linear});
        thread.step = known.step;
        thread.lanes = known.lanes;
    }
}

ThreadClocks::Held ThreadClocks::hold_block() const {
    Held held;
    held.block = block_;
    held.generation = generation_;
    if (any_step_) held.threads.assign(threads_.begin(), threads_.begin() + block_state.threads);
    held.warps = warps_;
    held.fencing = fencing_;
    held.learning = learning_;
    held.fenced_for_device = fenced_for_device_;
    held.others = others_;
    return held;
}

void ThreadClocks::return_block(Held& held) {
    block_ = held.block;
    generation_ = held.generation;
    std::move(held.threads.begin(), held.threads.end(), threads_.begin());
    warps_ = held.warps;
    fencing_ = std::move(held.fencing);
    learning_ = std::move(held.learning);
    fenced_for_device_ = std::move(held.fenced_for_device);
    others_ = std::move(held.others);
}

void ThreadClocks::begin_block(std::uint32_t block) {
    block_ = block;
    generation_ = 0;
    fencing_.clear();
    learning_.clear();
    fenced_for_device_.clear();
    others_ = {};
}

/// Begin a generation after a barrier. The barrier has ordered all earlier accesses of the block, so earlier fences and
/// reads now apply to all threads.
void ThreadClocks::begin_generation(std::uint32_t generation) {
    const auto was_in_generation = [&](const Thread& thread) {
        return thread.block == block_ && thread.generation == generation_;
    };
    for (const unsigned linear : fencing_)
        if (const Thread& thread = threads_[linear]; was_in_generation(thread))
            fenced_for_device_.merge(thread.fenced_for_device);
    for (const unsigned linear : learning_)
        if (const Thread& thread = threads_[linear]; was_in_generation(thread)) others_.merge(thread.others);
    fencing_.clear();
    learning_.clear();
    generation_ = generation;
}

ThreadClocks::Thread& ThreadClocks::begin_thread(const Instant& at, Thread& thread) {
    if (block_ != at.block) begin_block(at.block);
    if (generation_ != at.generation) begin_generation(at.generation);
    if (thread.block == block_ && thread.generation == generation_) return thread;
    thread.block = block_;
    thread.generation = generation_;
    thread.step = 0;
    thread.lanes.fill(0);
    thread.has_fence = thread.has_fence_for_device = false;
    for (KnownAccesses* known : {&thread.acquired, &thread.observed, &thread.fenced, &thread.fenced_for_device})
        known->clear();
    thread.others = {};
    thread.last_read = 0;
    return thread;
}

ThreadClocks::Warp& ThreadClocks::warp(unsigned linear) {
    Warp& warp = warps_[linear / lanes_per_warp % warps_.size()];
    if (warp.block == block_ && warp.generation == generation_) return warp;
    return warp = {block_, generation_, {}};
}

bool ThreadClocks::knows_access(const Instant& at, const Mark& earlier) {
    const Thread& here = running(at);
    const KnownAccesses *const before = others_.find(earlier.block), *const read = here.others.find(earlier.block);
    return (before && before->covers(earlier)) || (read && read->covers(earlier));
}

bool ThreadClocks::has_read(const Instant& at, std::uintptr_t word, const Mark& earlier) {
    if (!any_fence_) return false;
    if (earlier.block == at.block && running(at).observed.covers(earlier)) return true;
    const auto iterator = words_.find(word);
    if (iterator == words_.end()) return false;
    const auto& signals = iterator->second.signals;
    const auto writer = signals.find(thread_key(earlier.block, earlier.thread));
    if (writer == signals.end()) return false;
    const bool own_block = earlier.block == at.block;
    const std::uint64_t version = own_block ? writer->second.published : writer->second.published_for_device;
    const auto is_known = [&](const auto& reader) {
        return reader.second.read >= version && knows_read(at, reader.first, reader.second);
    };
    const auto own = signals.find(thread_key(at));
    return version != 0 && ((own != signals.end() && is_known(*own)) || std::ranges::any_of(signals, is_known));
}

bool ThreadClocks::knows_read(const Instant& at, std::uint64_t thread_key, const Signal& signal) {
    Mark read;
    read.block = static_cast<std::uint32_t>(thread_key >> 32);
    read.thread = static_cast<std::uint32_t>(thread_key);
    read.generation = signal.generation;
    read.step = signal.step;
    if (read.block == at.block) return knows(at, read);
    return barriers_.is_before_last(at.block, read) || knows_access(at, read);
}

bool ThreadClocks::is_published(const Mark& mark) const {
    const auto iterator = published_.find(mark.block);
    return iterator != published_.end() && iterator->second.covers(mark);
}

/// Set `known` to all accesses of the block that happen before the running thread's next step, including its own.
void ThreadClocks::find_known_to(const Instant& at, KnownAccesses& known) {
    const Thread& thread = running(at);
    known.begin(block_, generation_);
    known.merge(thread.acquired);
    const unsigned first = at.thread - at.thread % lanes_per_warp;
    const auto& steps = warp(at.thread).steps;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (const auto step = std::max(thread.lanes[lane], steps[lane])) known.add(first + lane, step);
}

void ThreadClocks::fence(const Instant& at, bool of_device) {
    Thread& here = running(at);
    any_fence_ = any_step_ = true;
    here.acquired.merge(here.observed);
    here.observed.clear();
    here.lanes[at.thread % lanes_per_warp] = end_step(here.step);
    find_known_to(at, here.fenced);
    here.has_fence = true;
    if (!of_device) return;
    here.fenced_for_device = here.fenced;
    if (!here.has_fence_for_device) fencing_.push_back(at.thread);
    here.has_fence_for_device = true;
}

void ThreadClocks::sync_lanes(const Instant& at, unsigned lanes) {
    const unsigned first = at.thread - at.thread % lanes_per_warp;
    any_step_ = true;
    running(at);  // sets the running block
    if (lanes == ~0u) {
        auto& steps = warp(first).steps;
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) steps[lane] = end_step(thread(at, first + lane).step);
    } else {
        sync_some_lanes(at, first, lanes);
    }
    if (any_fence_) share_fences(at, first, lanes);
}

void ThreadClocks::sync_some_lanes(const Instant& at, unsigned first, unsigned lanes) {
    std::array<std::uint32_t, lanes_per_warp> together{};
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Thread& lane_thread = thread(at, first + lane);
        lane_thread.lanes[lane] = end_step(lane_thread.step);
        for (unsigned i = 0; i < lanes_per_warp; ++i) together[i] = std::max(together[i], lane_thread.lanes[i]);
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (lanes >> lane & 1) threads_[first + lane].lanes = together;
}

void ThreadClocks::share_fences(const Instant& at, unsigned first, unsigned lanes) {
    KnownAccesses acquired, fenced, fenced_for_device;
    BlockClock others;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const Thread& lane_thread = thread(at, first + lane);
        acquired.merge(lane_thread.acquired);
        acquired.merge(lane_thread.observed);
        fenced.merge(lane_thread.fenced);
        fenced_for_device.merge(lane_thread.fenced_for_device);
        others.merge(lane_thread.others);
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Thread& lane_thread = threads_[first + lane];
        learn(lane_thread, others);
        lane_thread.acquired = acquired;
        lane_thread.fenced = fenced;
        lane_thread.fenced_for_device = fenced_for_device;
    }
}

int ThreadClocks::exchange(const Instant& at, std::uintptr_t word, bool reads, bool writes) {
    const Thread& here = running(at);
    const bool publishes = writes && !(here.fenced.empty() && fenced_for_device_.empty());
    auto iterator = words_.find(word);
    if (iterator == words_.end()) {
        if (!publishes) return -1;
        iterator = words_.try_emplace(word).first;
        iterator->second.number = static_cast<int>(words_.size()) - 1;
    }
    if (reads) observe(at, iterator->second);
    if (publishes) publish(at, iterator->second);
    return iterator->second.number;
}

void ThreadClocks::learn(Thread& here, const BlockClock& others) {
    if (others.empty()) return;
    if (here.others.empty()) learning_.push_back(static_cast<unsigned>(&here - threads_.data()));
    here.others.merge(others);
}

void ThreadClocks::observe(const Instant& at, Word& word) {
    Thread& here = running(at);
    if (across_blocks_) {
        Signal& signal = word.signals[thread_key(at)];
        signal.read = word.version;
        signal.generation = generation_;
        signal.step = here.step;
    }
    if (word.in_block.block() == block_) {
        here.observed.merge(word.in_block);
        learn(here, word.others_in_block);
    }
    if (word.published.empty() || here.last_read == word.version) return;
    here.last_read = word.version;
    learn(here, word.published);
    if (const KnownAccesses* own = word.published.find(block_)) here.observed.merge(*own);
}

void ThreadClocks::publish(const Instant& at, Word& word) {
    const Thread& here = running(at);
    word.version = ++versions_;
    Signal* const signal = across_blocks_ ? &word.signals[thread_key(at)] : nullptr;
    if (signal) signal->published = word.version;
    if (word.in_block.block() != block_) word.others_in_block = {};
    word.in_block.merge(here.fenced);
    word.others_in_block.merge(here.others);
    if (here.fenced_for_device.empty() && fenced_for_device_.empty()) return;
    word.published.merge(publication(at, here));
    if (signal) signal->published_for_device = word.version;
}

const BlockClock& ThreadClocks::publication(const Instant& at, const Thread& here) {
    Publication& last = last_publication_;
    const bool same_thread = last.block == block_ && last.generation == generation_ && last.thread == at.thread;
    const bool same_step = last.step == here.step && here.step != Mark::last_step;
    if (same_thread && same_step && last.others.shares(here.others)) return last.clock;
    KnownAccesses& published = published_[block_];
    published.merge(fenced_for_device_);
    published.merge(here.fenced_for_device);
    last = {block_, generation_, at.thread, here.step, here.others, others_};
    if (!across_blocks_) return last.clock;
    KnownAccesses own = fenced_for_device_;
    own.merge(here.fenced_for_device);
    last.clock.merge(here.others);
    last.clock.merge(own);
    return last.clock;
}

}  // namespace warplab_cpu
