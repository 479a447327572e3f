#include "grader/cpu/runtime/clock.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace warplab_cpu {

bool Known::covers(const Mark& mark) const {
    if (mark.block != block_) return false;
    if (mark.generation < generation_) return true;
    const Progress* const known = progress_of(mark.thread);
    if (!known) return false;
    return mark.generation < known->generation || (mark.generation == known->generation && mark.step < known->step);
}

const Known::Progress* Known::progress_of(std::uint32_t thread) const {
    const auto found = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                        [](const Progress& one, std::uint32_t at) { return one.thread < at; });
    return found == threads_.end() || found->thread != thread ? nullptr : &*found;
}

bool Known::contains(const Known& other) const {
    if (other.generation_ > generation_) return false;
    auto known = threads_.begin();
    for (const Progress& one : other.threads_) {
        if (one.generation < generation_) continue;
        while (known != threads_.end() && known->thread < one.thread) ++known;
        if (known == threads_.end() || known->thread != one.thread) return false;
        if (std::tie(known->generation, known->step) < std::tie(one.generation, one.step)) return false;
    }
    return true;
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
    else if (std::tie(at->generation, at->step) < std::tie(progress.generation, progress.step))
        *at = progress;
}

void Known::merge(const Known& other) {
    if (other.empty()) return;
    if (block_ != other.block_) {
        *this = other;
        return;
    }
    if (contains(other)) return;
    generation_ = std::max(generation_, other.generation_);
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
    std::erase_if(both, [&](const Progress& one) { return one.generation < generation_; });
    threads_ = std::move(both);
}

const Known* BlockClock::find(std::uint32_t block) const {
    if (!chunks_) return nullptr;
    const std::uint32_t number = block / blocks_per_chunk;
    const auto found = std::lower_bound(chunks_->begin(), chunks_->end(), number,
                                        [](const auto& one, std::uint32_t at) { return one.first < at; });
    if (found == chunks_->end() || found->first != number) return nullptr;
    return (*found->second)[block % blocks_per_chunk].get();
}

std::shared_ptr<const Known> BlockClock::join(const std::shared_ptr<const Known>& one,
                                              const std::shared_ptr<const Known>& other) {
    if (!other || one == other) return one;
    if (!one || other->contains(*one)) return other;
    if (one->contains(*other)) return one;
    auto both = std::make_shared<Known>(*one);
    both->merge(*other);
    return both;
}

std::shared_ptr<const BlockClock::Chunk> BlockClock::join(const std::shared_ptr<const Chunk>& one,
                                                          const std::shared_ptr<const Chunk>& other) {
    if (one == other) return one;
    Chunk both;
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = join((*one)[i], (*other)[i]);
    if (both == *one) return one;
    return both == *other ? other : std::make_shared<const Chunk>(std::move(both));
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

void BlockClock::merge(const Known& known) {
    if (known.empty()) return;
    Chunk chunk;
    chunk[known.block() % blocks_per_chunk] = std::make_shared<const Known>(known);
    BlockClock one;
    one.chunks_ = std::make_shared<const Chunks>(
        Chunks{{known.block() / blocks_per_chunk, std::make_shared<const Chunk>(std::move(chunk))}});
    merge(one);
}

}  // namespace warplab_cpu
