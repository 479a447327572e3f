#include "grader/cpu/runtime/happens_before.h"

#include <algorithm>

namespace warplab_cpu {
namespace {

constexpr unsigned lanes_per_warp = 32;

/// End a thread's step and return the next one. The thread's accesses so far happen before the returned step.
std::uint32_t end_step(std::uint32_t& step) {
    if (step < Mark::last_step) ++step;
    return step == Mark::last_step ? step + 1 : step;
}

}  // namespace

void HappensBefore::forget_words() {
    words_.clear();
    published_.clear();
    grid_barriers_.clear();
    arrivals_.clear();
    last_publication_ = {};
    any_fence_ = any_step_ = false;
}

HappensBefore::Held HappensBefore::hold_block() const {
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

void HappensBefore::return_block(Held& held) {
    block_ = held.block;
    generation_ = held.generation;
    std::move(held.threads.begin(), held.threads.end(), threads_.begin());
    warps_ = held.warps;
    fencing_ = std::move(held.fencing);
    learning_ = std::move(held.learning);
    fenced_for_device_ = std::move(held.fenced_for_device);
    others_ = std::move(held.others);
}

void HappensBefore::begin_block() {
    block_ = block_state.epoch;
    generation_ = block_state.generation;
    fencing_.clear();
    learning_.clear();
    fenced_for_device_.clear();
    others_ = {};
}

/// Begin a generation after a barrier. It has ordered all earlier accesses of the block, so fences and reads apply to
/// all threads.
void HappensBefore::begin_generation() {
    const auto had = [&](const Thread& one) { return one.block == block_ && one.generation == generation_; };
    for (const unsigned linear : fencing_)
        if (const Thread& one = threads_[linear]; had(one)) fenced_for_device_.merge(one.fenced_for_device);
    for (const unsigned linear : learning_)
        if (const Thread& one = threads_[linear]; had(one)) others_.merge(one.others);
    fencing_.clear();
    learning_.clear();
    generation_ = block_state.generation;
}

HappensBefore::Thread& HappensBefore::begin_thread(Thread& one) {
    if (block_ != block_state.epoch) begin_block();
    if (generation_ != block_state.generation) begin_generation();
    if (one.block == block_ && one.generation == generation_) return one;
    one.block = block_;
    one.generation = generation_;
    one.step = 0;
    one.lanes.fill(0);
    one.has_fence = one.has_fence_for_device = false;
    for (Known* known : {&one.acquired, &one.observed, &one.fenced, &one.fenced_for_device}) known->clear();
    one.others = {};
    one.last_read = 0;
    return one;
}

HappensBefore::Warp& HappensBefore::warp(unsigned linear) {
    Warp& one = warps_[linear / lanes_per_warp % warps_.size()];
    if (one.block == block_ && one.generation == generation_) return one;
    return one = {block_, generation_, {}};
}

/// Return whether an access of another block came before the last barrier of the grid that the running block has left.
/// The other block may have reached the next barrier by now.
bool HappensBefore::before_last_barrier(const Mark& earlier) const {
    const auto here = grid_barriers_.find(block_state.epoch), there = grid_barriers_.find(earlier.block);
    if (here == grid_barriers_.end() || there == grid_barriers_.end()) return false;
    const GridBarriers& other = there->second;
    return earlier.generation <= (other.count == here->second.count ? other.last : other.last_but_one);
}

bool HappensBefore::block_ordered(const Mark& earlier) {
    const Thread& here = running();
    const Known *const before = others_.find(earlier.block), *const read = here.others.find(earlier.block);
    return (before && before->covers(earlier)) || (read && read->covers(earlier));
}

bool HappensBefore::has_read(std::uintptr_t place, const Mark& earlier) {
    if (!any_fence_) return false;
    if (earlier.block == block_state.epoch && running().observed.covers(earlier)) return true;
    const auto found = words_.find(place);
    if (found == words_.end()) return false;
    const auto& signals = found->second.signals;
    const auto writer = signals.find(thread_key(earlier.block, earlier.thread));
    if (writer == signals.end()) return false;
    const bool own_block = earlier.block == block_state.epoch;
    const std::uint64_t version = own_block ? writer->second.published : writer->second.published_for_device;
    const auto is_known = [&](const auto& reader) {
        return reader.second.read >= version && knows_read(reader.first, reader.second);
    };
    const auto own = signals.find(thread_key(block_state.epoch, linear_thread()));
    return version != 0 &&
           ((own != signals.end() && is_known(*own)) || std::any_of(signals.begin(), signals.end(), is_known));
}

bool HappensBefore::knows_read(std::uint64_t thread_key, const Signal& signal) {
    Mark read;
    read.block = static_cast<std::uint32_t>(thread_key >> 32);
    read.thread = static_cast<std::uint32_t>(thread_key);
    read.generation = signal.generation;
    read.step = signal.step;
    return ordered(read);
}

bool HappensBefore::unpublished(const Mark& mark) const {
    if (before_grid_barrier(mark)) return false;
    const auto found = published_.find(mark.block);
    return found == published_.end() || !found->second.covers(mark);
}

/// Return all accesses of the block that happen before the running thread's next step, including its own.
Known HappensBefore::known_to(unsigned linear) {
    const Thread& one = thread(linear);
    Known known;
    known.begin(block_, generation_);
    const unsigned first = linear - linear % lanes_per_warp;
    const auto& steps = warp(linear).steps;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (const auto step = std::max(one.lanes[lane], steps[lane])) known.add({first + lane, generation_, step});
    known.merge(one.acquired);
    return known;
}

void HappensBefore::fence(bool of_device) {
    const unsigned linear = linear_thread();
    Thread& here = thread(linear);
    any_fence_ = any_step_ = true;
    here.acquired.merge(here.observed);
    here.observed.clear();
    here.lanes[linear % lanes_per_warp] = end_step(here.step);
    here.fenced = known_to(linear);
    here.has_fence = true;
    if (!of_device) return;
    here.fenced_for_device = here.fenced;
    if (!here.has_fence_for_device) fencing_.push_back(linear);
    here.has_fence_for_device = true;
}

void HappensBefore::sync_lanes(unsigned lanes) {
    const unsigned first = linear_thread() - linear_thread() % lanes_per_warp;
    any_step_ = true;
    running();  // in which block
    if (lanes == ~0u) {
        auto& steps = warp(first).steps;
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) steps[lane] = end_step(thread(first + lane).step);
    } else {
        sync_some_lanes(first, lanes);
    }
    if (any_fence_) share_fences(first, lanes);
}

void HappensBefore::sync_some_lanes(unsigned first, unsigned lanes) {
    std::array<std::uint32_t, lanes_per_warp> together{};
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Thread& one = thread(first + lane);
        one.lanes[lane] = end_step(one.step);
        for (unsigned i = 0; i < lanes_per_warp; ++i) together[i] = std::max(together[i], one.lanes[i]);
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (lanes >> lane & 1) threads_[first + lane].lanes = together;
}

void HappensBefore::share_fences(unsigned first, unsigned lanes) {
    Known acquired, fenced, fenced_for_device;
    BlockClock others;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const Thread& one = thread(first + lane);
        acquired.merge(one.acquired);
        acquired.merge(one.observed);
        fenced.merge(one.fenced);
        fenced_for_device.merge(one.fenced_for_device);
        others.merge(one.others);
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Thread& one = threads_[first + lane];
        learn(one, others);
        one.acquired = acquired;
        one.fenced = fenced;
        one.fenced_for_device = fenced_for_device;
    }
}

void HappensBefore::exchange(std::uintptr_t place, bool reads, bool writes) {
    const Thread& here = running();
    const bool publishes = writes && !(here.fenced.empty() && fenced_for_device_.empty());
    if (words_.empty() && !publishes) return;
    if (reads)
        if (const auto found = words_.find(place); found != words_.end()) observe(found->second);
    if (publishes) publish(words_[place]);
}

void HappensBefore::learn(Thread& here, const BlockClock& others) {
    if (others.empty()) return;
    if (here.others.empty()) learning_.push_back(static_cast<unsigned>(&here - threads_.data()));
    here.others.merge(others);
}

void HappensBefore::observe(Word& word) {
    Thread& here = running();
    Signal& signal = word.signals[thread_key(block_, linear_thread())];
    signal.read = word.version;
    signal.generation = generation_;
    signal.step = here.step;
    if (word.in_block.block() == block_) {
        here.observed.merge(word.in_block);
        learn(here, word.others_in_block);
    }
    if (word.published.empty() || here.last_read == word.version) return;
    here.last_read = word.version;
    learn(here, word.published);
    if (const Known* own = word.published.find(block_)) here.observed.merge(*own);
}

void HappensBefore::publish(Word& word) {
    const Thread& here = running();
    Signal& signal = word.signals[thread_key(block_, linear_thread())];
    signal.published = word.version = ++versions_;
    if (word.in_block.block() != block_) word.others_in_block = {};
    word.in_block.merge(here.fenced);
    word.others_in_block.merge(here.others);
    if (here.fenced_for_device.empty() && fenced_for_device_.empty()) return;
    word.published.merge(publication(here));
    signal.published_for_device = word.version;
}

const BlockClock& HappensBefore::publication(const Thread& here) {
    Publication& last = last_publication_;
    const unsigned linear = linear_thread();
    const bool same_thread = last.block == block_ && last.generation == generation_ && last.thread == linear;
    const bool same_step = last.step == here.step && here.step != Mark::last_step;
    if (same_thread && same_step && last.others.shares(here.others)) return last.clock;
    Known own = fenced_for_device_;
    own.merge(here.fenced_for_device);
    published_[block_].merge(own);
    last = {block_, generation_, linear, here.step, here.others, others_};
    last.clock.merge(here.others);
    last.clock.merge(own);
    return last.clock;
}

}  // namespace warplab_cpu
