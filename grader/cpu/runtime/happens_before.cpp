#include "grader/cpu/runtime/happens_before.h"

namespace warplab_cpu {

void HappensBefore::begin_grid() {
    first_block_ = block_state.epoch + 1;
    barriers_.clear();
    in_block_.begin_grid();
    clocks_ = &in_block_;
    events_.clear();
    words_.clear();
    unfenced_.begin_grid();
}

HappensBefore::Held HappensBefore::hold_block() {
    if (defers()) {
        if (!clocks_->any_fence()) across_blocks_.begin_after(in_block_);
        clocks_ = &across_blocks();
    }
    return clocks_->hold_block();
}

void HappensBefore::fence(bool of_device) {
    const Instant at = now();
    if (defers()) {
        if (!clocks_->any_fence()) across_blocks_.begin_after(in_block_);
        const Scope scope = of_device ? Scope::device : Scope::block;
        Event* const last = last_of(at);
        if (last && last->lanes_or_word != Event::no_word && !last->after)
            last->after = static_cast<unsigned>(scope);
        else
            log({.block = at.block,
                 .generation = at.generation,
                 .thread = at.thread,
                 .before = static_cast<unsigned>(scope)});
    }
    clocks_->fence(at, of_device);
    unfenced_.note_fence(at.thread);
}

void HappensBefore::sync_lanes(unsigned lanes) {
    const Instant at = now();
    if (defers() && clocks_->any_fence())
        log({.block = at.block,
             .generation = at.generation,
             .lanes_or_word = lanes,
             .thread = at.thread,
             .is_sync = true});
    clocks_->sync_lanes(at, lanes);
}

void HappensBefore::exchange(std::uintptr_t word, bool reads, bool writes) {
    const Instant at = now();
    const int number = clocks_->exchange(at, word, reads, writes);
    if (!defers() || number < 0) return;
    if (static_cast<std::size_t>(number) == words_.size()) words_.push_back(word);
    Event event{.block = at.block,
                .generation = at.generation,
                .lanes_or_word = static_cast<std::uint32_t>(number),
                .thread = at.thread,
                .reads = reads,
                .writes = writes};
    Event* const last = last_of(at);
    if (!last || last->lanes_or_word != Event::no_word) return log(event);
    event.before = last->before;
    *last = event;
}

HappensBefore::Event* HappensBefore::last_of(const Instant& at) {
    if (events_.empty()) return nullptr;
    Event& last = events_.back();
    return !last.is_sync && Instant{last.block, last.generation, last.thread} == at ? &last : nullptr;
}

void HappensBefore::log(const Event& event) {
    if (events_.size() == max_events) across_blocks();
    events_.push_back(event);
}

void HappensBefore::replay(const Event& event) {
    const Instant at{event.block, event.generation, event.thread};
    if (event.is_sync) return across_blocks_.sync_lanes(at, event.lanes_or_word);
    const auto fence = [&](unsigned scope) {
        if (scope) across_blocks_.fence(at, scope == static_cast<unsigned>(Scope::device));
    };
    fence(event.before);
    if (event.lanes_or_word != Event::no_word)
        across_blocks_.exchange(at, words_[event.lanes_or_word], event.reads, event.writes);
    fence(event.after);
}

ThreadClocks& HappensBefore::across_blocks() {
    if (!defers()) return *clocks_;
    for (const Event& event : events_) replay(event);
    events_.clear();
    return across_blocks_;
}

}  // namespace warplab_cpu
