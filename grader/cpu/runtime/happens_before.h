#pragma once
// The happens-before order of a grid's accesses in CUDA's memory model. It comes from program order, barriers of the
// block and the grid, __syncwarp(), and fences: a fence before an atomic or volatile write orders accesses if an atomic
// or volatile read of the same word sees that write.
//
// The order within a block is needed often, and its clocks are small. Clocks across blocks grow with the number of
// blocks, and most kernels never need them. Therefore, their events are only logged, and replayed when accesses of two
// blocks conflict.

#include <cstdint>
#include <vector>

#include "grader/cpu/runtime/thread_clocks.h"
#include "grader/cpu/runtime/unfenced.h"

namespace warplab_cpu {

class HappensBefore {
  public:
    void begin_grid();
    std::uint32_t first_block() const { return first_block_; }
    /// Return the mark of the access that the running thread is about to make.
    Mark mark(std::uint32_t place, unsigned bytes, bool atomic, bool is_volatile) {
        const Instant at = now();
        Mark mark;
        mark.block = at.block;
        mark.generation = at.generation;
        mark.place = place;
        mark.bytes = bytes;
        mark.thread = at.thread;
        mark.atomic = atomic;
        mark.is_volatile = is_volatile;
        if (!clocks_->any_step()) return mark;
        mark.step = clocks_->step_of(at);
        mark.fenced = clocks_->had_fence(at);
        return mark;
    }
    /// Return whether an earlier access of this grid happens before the next access of the running thread.
    bool is_ordered(const Mark& earlier) {
        if (earlier.block == block_state.epoch) return clocks_->knows(now(), earlier);
        return earlier.block < first_block_ || barriers_.is_before_last(block_state.epoch, earlier) ||
               (clocks_->any_fence() && across_blocks().knows_access(now(), earlier));
    }
    /// Return whether a read tells the running thread that an earlier atomic or volatile write of a word has happened.
    /// The read is by this thread, or happens before its next access, and came after the writing thread had published
    /// through the word. (A write of a flag, a counter or a lock follows the fence, so no clock covers it.)
    bool has_read(std::uintptr_t word, bool shared, const Mark& earlier) {
        // The missing fence is reported where the block reads what the others wrote, not at the counter's reset.
        if (!shared && unfenced_.has_read_word_since(word, block_state.epoch, earlier.block)) return true;
        return clocks_->any_fence() && across_blocks().has_read(now(), shared ? word_of(word) : word, earlier);
    }
    /// Return whether the running block, at this place in the code, knows of another block's volatile write of a word
    /// of global memory only because it read a flag or a counter that the other block wrote later, without a fence.
    bool lacks_fence(std::uintptr_t word, std::uint32_t place, const Mark& write) const {
        return unfenced_.any() && write.is_volatile && write.block != block_state.epoch && is_unpublished(write) &&
               unfenced_.has_read_signal(block_state.epoch, word, place, write.fenced);
    }
    /// Return whether the access's block has published nothing yet that orders the access for other blocks.
    bool is_unpublished(const Mark& mark) const {
        return !barriers_.is_before_last(block_state.epoch, mark) && !clocks_->is_published(mark);
    }

    /// The records of a block that is suspended while other blocks of the grid run.
    using Held = ThreadClocks::Held;
    Held hold_block();
    void return_block(Held& held) { clocks_->return_block(held); }

    void fence(bool of_device);
    /// Record a completed __syncwarp() of these lanes of the running thread's warp.
    void sync_lanes(unsigned lanes);
    /// Record a barrier of part of a block, which a key identifies: each thread releases the key, waits, and acquires
    /// it.
    void release(std::uintptr_t key) {
        fence(false);
        exchange(word_of(key), false, true);
    }
    void acquire(std::uintptr_t key) {
        exchange(word_of(key), true, false);
        fence(false);
    }
    void arrive_at_grid_barrier() { barriers_.arrive(block_state.epoch, block_state.generation); }
    void reach_grid_barrier() { barriers_.reach(block_state.epoch, block_state.generation); }
    /// Record an atomic or volatile access, after its comparison with earlier accesses. exchange() is not inlined,
    /// because inlining would slow every access of a kernel down by a third.
    void note_strong_access(std::uintptr_t word, bool shared, std::uint32_t place, bool atomic, bool reads,
                            bool writes) {
        if (clocks_->any_fence()) exchange(shared ? word_of(word) : word, reads, writes);
        if (shared || !(unfenced_.any() || (writes && !atomic))) return;
        if (reads) unfenced_.note_read(block_state.epoch, word, place);
        if (writes) unfenced_.note_write(block_state.epoch, linear_thread(), word, atomic);
    }

  private:
    enum class Scope : std::uint8_t { none, block, device };
    /// A __syncwarp() of some lanes, or a thread's access to a word with the fences directly before and after it. An
    /// event of only a fence has no word.
    struct Event {
        static constexpr std::uint32_t no_word = ~0u;
        std::uint32_t block = 0, generation = 0;
        std::uint32_t lanes_or_word = no_word;  // a word by its number
        std::uint32_t thread : 10 = 0, is_sync : 1 = 0, reads : 1 = 0, writes : 1 = 0, before : 2 = 0, after : 2 = 0;
    };
    static_assert(sizeof(Event) == 16);
    static constexpr std::size_t max_events = 1u << 22;

    static Instant now() { return {block_state.epoch, block_state.generation, linear_thread()}; }
    /// Return the word of a key or of shared memory: an address outside memory that is different for each block.
    static std::uintptr_t word_of(std::uintptr_t key) { return key + (std::uintptr_t{block_state.epoch} << 32 << 16); }
    /// Return whether events are only logged for the clocks across blocks.
    bool defers() const { return clocks_ == &in_block_; }
    void exchange(std::uintptr_t word, bool reads, bool writes);
    /// Return the last event if the running thread can add a fence or an access to it; otherwise null.
    Event* last_of(const Instant& at);
    void log(const Event& event);
    void replay(const Event& event);
    /// Return the clocks across blocks, after all logged events.
    ThreadClocks& across_blocks();

    std::uint32_t first_block_ = 0;
    GridBarriers barriers_;
    ThreadClocks in_block_{barriers_, false}, across_blocks_{barriers_, true};
    ThreadClocks* clocks_ = &in_block_;  // across_blocks_ once blocks alternate
    std::vector<Event> events_;          // events that across_blocks_ does not contain yet
    std::vector<std::uintptr_t> words_;  // by number
    UnfencedWrites unfenced_;
};

}  // namespace warplab_cpu
