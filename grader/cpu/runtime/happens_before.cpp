#include "grader/cpu/runtime/happens_before.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace warplab_cpu {
namespace {

constexpr unsigned lanes_per_warp = 32;

/// End a thread's step and return the next one. The thread's accesses so far happen before the returned step.
std::uint32_t end_step(std::uint32_t& step) {
    if (step < Mark::last_step) ++step;
    return step == Mark::last_step ? step + 1 : step;
}

}  // namespace

bool Known::covers(const Mark& mark) const {
    if (mark.block != block_) return false;
    if (mark.generation < generation_) return true;
    const Progress* const known = progress_of(mark.thread);
    if (!known) return false;
    return mark.generation < known->generation || (mark.generation == known->generation && mark.step < known->step);
}

bool Known::reaches(const Mark& mark) const {
    if (covers(mark)) return true;
    if (mark.block != block_) return false;
    const Progress* const known = progress_of(mark.thread);
    return known && mark.generation == known->generation && mark.step == known->step;
}

const Known::Progress* Known::progress_of(std::uint32_t thread) const {
    const auto found = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                        [](const Progress& one, std::uint32_t at) { return one.thread < at; });
    return found == threads_.end() || found->thread != thread ? nullptr : &*found;
}

void Known::begin(std::uint32_t block, std::uint32_t generation) {
    block_ = block;
    generation_ = generation;
    threads_.clear();
}

void Known::add(const Progress& progress) {
    const auto at = std::lower_bound(threads_.begin(), threads_.end(), progress.thread,
                                     [](const Progress& one, std::uint32_t thread) { return one.thread < thread; });
    if (at == threads_.end() || at->thread != progress.thread)
        threads_.insert(at, progress);
    else if (at->generation < progress.generation ||
             (at->generation == progress.generation && at->step < progress.step))
        *at = progress;
}

void Known::merge(const Known& other) {
    if (other.empty()) return;
    if (block_ != other.block_) {
        *this = other;
        return;
    }
    generation_ = std::max(generation_, other.generation_);
    if (other.threads_.size() <= 1) {
        for (const Progress& one : other.threads_) add(one);
        return;
    }
    const auto later_first = [](const Progress& a, const Progress& b) {
        return std::tie(a.thread, b.generation, b.step) < std::tie(b.thread, a.generation, a.step);
    };
    std::vector<Progress> both;
    both.reserve(threads_.size() + other.threads_.size());
    std::merge(threads_.begin(), threads_.end(), other.threads_.begin(), other.threads_.end(), std::back_inserter(both),
               later_first);
    both.erase(std::unique(both.begin(), both.end(),
                           [](const Progress& a, const Progress& b) { return a.thread == b.thread; }),
               both.end());
    threads_ = std::move(both);
}

template <class Predicate>
bool HappensBefore::Published::any_of(std::uint32_t block, Predicate fulfils) const {
    std::set<const Published*> seen{this};
    std::vector<const Published*> left{this};
    while (!left.empty()) {
        const Published& here = *left.back();
        left.pop_back();
        if (const auto found = here.blocks.find(block); found != here.blocks.end() && fulfils(found->second))
            return true;
        for (const auto& earlier : here.before)
            if (seen.insert(earlier.get()).second) left.push_back(earlier.get());
    }
    return false;
}

/// Free a chain of words one by one: a chain can be long, and its destructor would recurse for each word.
void HappensBefore::forget_words() {
    observed_.clear();
    for (auto& [place, word] : words_)
        if (word.published) word.published->before.clear();
    words_.clear();
    published_.clear();
    grid_barriers_.clear();
    arrivals_.clear();
    any_fence_ = any_step_ = false;
}

HappensBefore::Held HappensBefore::hold_block() const {
    Held held;
    held.block = block_;
    held.generation = generation_;
    if (any_step_) held.threads.assign(threads_.begin(), threads_.begin() + block_state.threads);
    held.warps = warps_;
    held.fencing = fencing_;
    held.fenced_for_device = fenced_for_device_;
    held.observed = observed_;
    return held;
}

void HappensBefore::return_block(Held& held) {
    block_ = held.block;
    generation_ = held.generation;
    std::move(held.threads.begin(), held.threads.end(), threads_.begin());
    warps_ = held.warps;
    fencing_ = std::move(held.fencing);
    fenced_for_device_ = std::move(held.fenced_for_device);
    observed_ = std::move(held.observed);
}

void HappensBefore::begin_block() {
    block_ = block_state.epoch;
    generation_ = block_state.generation;
    fencing_.clear();
    fenced_for_device_.clear();
    observed_.clear();
}

/// Begin a generation after a barrier. It has ordered all earlier accesses of the block, so fences apply to all
/// threads.
void HappensBefore::begin_generation() {
    for (const unsigned linear : fencing_)
        if (const Thread& one = threads_[linear]; one.block == block_ && one.generation == generation_)
            fenced_for_device_.merge(one.fenced_for_device);
    fencing_.clear();
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
    return one;
}

HappensBefore::Warp& HappensBefore::warp(unsigned linear) {
    Warp& one = warps_[linear / lanes_per_warp % warps_.size()];
    if (one.block == block_ && one.generation == generation_) return one;
    return one = {block_, generation_, {}};
}

bool HappensBefore::knows_any(unsigned linear, const std::vector<Mark>& earlier) {
    return std::any_of(earlier.begin(), earlier.end(), [&](const Mark& one) { return knows(linear, one); });
}

template <class Predicate>
bool HappensBefore::any_observed(std::uint32_t block, Predicate fulfils) {
    if (!any_fence_) return false;
    running();  // in which block
    return std::any_of(observed_.begin(), observed_.end(), [&](const auto& one) {
        return knows_any(linear_thread(), one.second) && one.first->any_of(block, fulfils);
    });
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
    return any_observed(earlier.block, [&](const Known& known) { return known.covers(earlier); });
}

bool HappensBefore::observed_fence_of(const Mark& earlier) {
    if (!any_fence_) return false;
    if (earlier.block != block_state.epoch) return any_observed(earlier.block, [](const Known&) { return true; });
    const Thread& here = running();
    return here.observed.reaches(earlier) || here.acquired.reaches(earlier);
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
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const Thread& one = thread(first + lane);
        acquired.merge(one.acquired);
        acquired.merge(one.observed);
        fenced.merge(one.fenced);
        fenced_for_device.merge(one.fenced_for_device);
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Thread& one = threads_[first + lane];
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

void HappensBefore::observe(Word& word) {
    const unsigned linear = linear_thread();
    Thread& here = thread(linear);
    if (word.in_block.is_of(block_)) here.observed.merge(word.in_block);
    if (!word.published) return;
    std::vector<Mark>& reads = observed_[word.published];
    if (!knows_any(linear, reads)) reads.push_back(mark(0, 0, true, false));
}

void HappensBefore::publish(Word& word) {
    const Thread& here = running();
    word.in_block.merge(here.fenced);
    if (here.fenced_for_device.empty() && fenced_for_device_.empty()) return;
    // Entries that other blocks have read must not change; the running block may extend entries that only it has read.
    const long holders = 1 + static_cast<long>(observed_.count(word.published));
    if (!word.published)
        word.published = std::make_shared<Published>();
    else if (word.published.use_count() > holders)
        word.published = std::make_shared<Published>(*word.published);
    for (Known* known : {&word.published->blocks[block_], &published_[block_]}) {
        known->merge(here.fenced_for_device);
        known->merge(fenced_for_device_);
    }
    publish_observed(*word.published);
}

void HappensBefore::publish_observed(Published& published) {
    constexpr std::size_t most = 256;  // a longer list means many locks, each of which protects its own data
    if (observed_.size() > most) return;
    for (const auto& [other, reads] : observed_) {
        auto& before = published.before;
        if (other.get() == &published || std::find(before.begin(), before.end(), other) != before.end()) continue;
        if (knows_any(linear_thread(), reads)) before.push_back(other);
    }
}

}  // namespace warplab_cpu
