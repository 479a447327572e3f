#include "grader/cpu/runtime/clock.h"

#include <algorithm>

namespace warplab_cpu {

namespace {

/// Raise each step to that of `others`. Programs with many fences spend most of their time here.
__attribute__((optimize("O3"))) void raise(std::int32_t* __restrict__ steps, const std::int32_t* __restrict__ others,
                                           std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) steps[i] = std::max(steps[i], others[i]);
}

}  // namespace

bool KnownAccesses::covers(const Mark& mark) const {
    if (mark.block != block_ || mark.generation > generation_) return false;
    if (mark.generation < generation_) return true;
    const std::size_t at = std::size_t{mark.thread} - first_;  // wraps to a huge number for threads before the first
    return at < steps_.size() && static_cast<std::int32_t>(mark.step) < steps_[at];
}

bool KnownAccesses::contains(const KnownAccesses& other) const {
    if (other.generation_ != generation_) return other.generation_ < generation_;
    for (std::size_t i = 0; i < other.steps_.size(); ++i) {
        const std::size_t at = i + other.first_ - first_;
        if (other.steps_[i] > (at < steps_.size() ? steps_[at] : 0)) return false;
    }
    return true;
}

void KnownAccesses::begin(std::uint32_t block, std::uint32_t generation) {
    block_ = block;
    generation_ = generation;
    steps_.clear();
}

void KnownAccesses::provide(std::uint32_t first, std::uint32_t end) {
    if (steps_.empty()) first_ = first;
    if (first < first_) {
        steps_.insert(steps_.begin(), first_ - first, 0);
        first_ = first;
    }
    if (end > this->end()) steps_.resize(end - first_);
}

void KnownAccesses::add(std::uint32_t thread, std::uint32_t step) {
    provide(thread, thread + 1);
    std::int32_t& here = steps_[thread - first_];
    here = std::max(here, static_cast<std::int32_t>(step));
}

void KnownAccesses::merge(const KnownAccesses& other) {
    if (other.empty()) return;
    const bool later = generation_ > other.generation_, earlier = generation_ < other.generation_;
    if (block_ != other.block_ || earlier || (!later && steps_.empty())) {
        *this = other;
    } else if (!later && !other.steps_.empty()) {
        provide(other.first_, other.end());
        raise(steps_.data() + (other.first_ - first_), other.steps_.data(), other.steps_.size());
    }
}

const KnownAccesses* BlockClock::find(std::uint32_t block) const {
    if (!chunks_) return nullptr;
    const std::uint32_t number = block / blocks_per_chunk;
    const auto iterator = std::lower_bound(chunks_->begin(), chunks_->end(), number,
                                           [](const auto& entry, std::uint32_t at) { return entry.first < at; });
    if (iterator == chunks_->end() || iterator->first != number) return nullptr;
    return (*iterator->second)[block % blocks_per_chunk].get();
}

std::shared_ptr<const KnownAccesses> BlockClock::join(const std::shared_ptr<const KnownAccesses>& a,
                                                      const std::shared_ptr<const KnownAccesses>& b) {
    if (!b || a == b) return a;
    if (!a || b->contains(*a)) return b;
    if (a->contains(*b)) return a;
    auto joined = std::make_shared<KnownAccesses>(*a);
    joined->merge(*b);
    return joined;
}

std::shared_ptr<const BlockClock::Chunk> BlockClock::join(const std::shared_ptr<const Chunk>& a,
                                                          const std::shared_ptr<const Chunk>& b) {
    if (a == b) return a;
    Chunk both;
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = join((*a)[i], (*b)[i]);
    if (both == *a) return a;
    return both == *b ? b : std::make_shared<const Chunk>(std::move(both));
}

void BlockClock::merge(const BlockClock& other) {
    if (other.empty() || chunks_ == other.chunks_) return;
    if (empty()) {
        chunks_ = other.chunks_;
        return;
    }
    Chunks both;
    both.reserve(chunks_->size() + other.chunks_->size());
    auto here = chunks_->begin(), there = other.chunks_->begin();
    while (here != chunks_->end() || there != other.chunks_->end()) {
        if (there == other.chunks_->end() || (here != chunks_->end() && here->first < there->first)) {
            both.push_back(*here++);
        } else if (here == chunks_->end() || there->first < here->first) {
            both.push_back(*there++);
        } else {
            both.emplace_back(here->first, join(here->second, there->second));
            ++here;
            ++there;
        }
    }
    if (both == *other.chunks_)
        chunks_ = other.chunks_;
    else if (both != *chunks_)
        chunks_ = std::make_shared<const Chunks>(std::move(both));
}

void BlockClock::merge(const KnownAccesses& known) {
    if (known.empty()) return;
    Chunk chunk;
    chunk[known.block() % blocks_per_chunk] = std::make_shared<const KnownAccesses>(known);
    BlockClock clock;
    clock.chunks_ = std::make_shared<const Chunks>(
        Chunks{{known.block() / blocks_per_chunk, std::make_shared<const Chunk>(std::move(chunk))}});
    merge(clock);
}

}  // namespace warplab_cpu
