#pragma once
// The happens-before order of a grid's accesses in CUDA's memory model. It comes from program order, barriers of the
// block and the grid, __syncwarp(), and fences: a fence before an atomic or volatile write orders accesses if an atomic
// or volatile read of the same word sees that write.

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/cpu/runtime/clock.h"

namespace warplab_cpu {

class HappensBefore {
  public:
    void begin_grid() {
        first_block_ = block_state.epoch + 1;
        forget_words();
    }
    std::uint32_t first_block() const { return first_block_; }
    /// The access that the running thread is about to make.
    Mark mark(std::uint32_t place, unsigned bytes, bool atomic, bool is_volatile) {
        const unsigned linear = linear_thread();
        Mark mark;
        mark.block = block_state.epoch;
        mark.generation = block_state.generation;
        mark.place = place;
        mark.bytes = bytes;
        mark.thread = linear;
        mark.atomic = atomic;
        mark.is_volatile = is_volatile;
        if (!any_step_) return mark;
        const Thread& here = thread(linear);
        mark.step = here.step;
        mark.fenced = here.has_fence;
        return mark;
    }
    /// Return whether an earlier access of this grid happens before the next access of the running thread.
    bool ordered(const Mark& earlier) {
        if (earlier.block == block_state.epoch) return knows(linear_thread(), earlier);
        return earlier.block < first_block_ || before_grid_barrier(earlier) || (any_fence_ && block_ordered(earlier));
    }
    /// Return whether the running thread knows an earlier atomic or volatile write of a word by reading: this thread,
    /// or one whose read happens before, read the word after the earlier thread had published by it. (A write of a
    /// flag, a counter or a lock comes after the fence, so no clock covers it.)
    bool has_read(std::uintptr_t word, const Mark& earlier);
    /// Return whether nothing that the access's block has published so far orders the access for other blocks.
    bool unpublished(const Mark& mark) const;

    /// The running block's records, while other blocks of a cooperative launch run.
    class Held;
    Held hold_block() const;
    void return_block(Held& held);

    void fence(bool of_device);
    /// Record a completed __syncwarp() of these lanes of the running thread's warp.
    void sync_lanes(unsigned lanes);
    /// Record a barrier of part of a block, by its key: each thread releases it, waits, and acquires it.
    void release(std::uintptr_t key) {
        fence(false);
        exchange(word_of(key), false, true);
    }
    void acquire(std::uintptr_t key) {
        exchange(word_of(key), true, false);
        fence(false);
    }
    /// Record that the running block arrives at its next barrier of the grid with this generation, and goes on.
    void arrive_at_grid_barrier() { arrivals_[block_state.epoch] = block_state.generation; }
    /// Record that all threads of the running block have reached a barrier of the grid. The block leaves it when all
    /// other blocks have reached it.
    void reach_grid_barrier() {
        const auto arrival = arrivals_.find(block_state.epoch);
        const bool arrived = arrival != arrivals_.end();
        GridBarriers& here = grid_barriers_[block_state.epoch];
        here = {here.count + 1, here.last, arrived ? arrival->second : block_state.generation};
        if (arrived) arrivals_.erase(arrival);
    }
    /// Record an atomic or volatile access, after its comparison with earlier ones. exchange() is not inlined, because
    /// that would slow every access of a kernel by a third.
    void strong_access(std::uintptr_t word, bool reads, bool writes) {
        if (any_fence_) exchange(word, reads, writes);
    }

  private:
    /// A thread's observations and accesses in this generation.
    struct Thread {
        std::uint32_t block = 0, generation = 0, step = 0;
        bool has_fence = false, has_fence_for_device = false;
        std::array<std::uint32_t, 32> lanes{};  // steps of its warp's lanes that happen before it
        Known acquired;                         // by a fence after a read
        Known observed;                         // by a read, not yet acquired
        Known fenced, fenced_for_device;        // published by its next write
        BlockClock others;                      // other blocks, by reads
        std::uint64_t last_read = 0;            // the version of the last word that `others` was read from
    };
    /// Steps that happen before all lanes of a warp, by __syncwarp() of the whole warp in this generation.
    struct Warp {
        std::uint32_t block = 0, generation = 0;
        std::array<std::uint32_t, 32> steps{};
    };
    /// The last time that a thread published by a word, and that it read the word, with the word's version then.
    struct Signal {
        std::uint64_t published = 0, published_for_device = 0, read = 0;
        std::uint32_t generation = 0, step = 0;  // of the read
    };
    /// Accesses that a word publishes: `in_block` and `others_in_block` to the block of `in_block`.
    struct Word {
        Known in_block;
        BlockClock others_in_block, published;
        std::uint64_t version = 0;                          // unique in the grid
        std::unordered_map<std::uint64_t, Signal> signals;  // by thread_key()
    };

    /// What a thread publishes for the device until its next fence, and until it learns of other blocks.
    struct Publication {
        std::uint32_t block = 0, generation = 0, thread = 0, step = 0;
        BlockClock others;  // the thread's, by reads
        BlockClock clock;   // published, with `others`
    };

    /// The barriers of the grid that a block has reached, and the generations with which it arrived at the last two.
    struct GridBarriers {
        std::uint32_t count = 0, last_but_one = 0, last = 0;
    };

    /// Return the word of a key: an address outside memory, different for each block.
    static std::uintptr_t word_of(std::uintptr_t key) { return key + (std::uintptr_t{block_state.epoch} << 32 << 16); }
    static std::uint64_t thread_key(std::uint32_t block, unsigned linear) {
        return std::uint64_t{block} << 32 | linear;
    }
    bool knows_read(std::uint64_t thread_key, const Signal& signal);
    void begin_block();
    void begin_generation();
    void forget_words();
    Thread& running() { return thread(linear_thread()); }
    Thread& thread(unsigned linear) {
        Thread& one = threads_[linear % threads_.size()];
        const bool current = one.block == block_state.epoch && one.generation == block_state.generation;
        return current && one.block == block_ && one.generation == generation_ ? one : begin_thread(one);
    }
    Thread& begin_thread(Thread& one);
    Warp& warp(unsigned linear);
    void sync_some_lanes(unsigned first, unsigned lanes);
    void share_fences(unsigned first, unsigned lanes);
    /// Return whether an earlier access of the running block happens before the next one of this thread.
    bool knows(unsigned linear, const Mark& earlier) {
        if (earlier.thread == linear || earlier.generation != block_state.generation) return true;
        if (!any_step_) return false;
        const Thread& one = thread(linear);
        if (earlier.thread / 32 == linear / 32) {
            const unsigned lane = earlier.thread % 32;
            if (earlier.step < one.lanes[lane] || earlier.step < warp(linear).steps[lane]) return true;
        }
        return any_fence_ && one.acquired.covers(earlier);
    }
    bool before_grid_barrier(const Mark& earlier) const {
        return !grid_barriers_.empty() && before_last_barrier(earlier);
    }
    bool before_last_barrier(const Mark& earlier) const;
    bool block_ordered(const Mark& earlier);
    /// Make the running thread know accesses of other blocks.
    void learn(Thread& here, const BlockClock& others);
    Known known_to(unsigned linear);
    void exchange(std::uintptr_t word, bool reads, bool writes);
    void observe(Word& word);
    void publish(Word& word);
    const BlockClock& publication(const Thread& here);

    std::uint32_t first_block_ = 0, block_ = 0, generation_ = 0;
    bool any_fence_ = false, any_step_ = false;  // in this grid; a fence and a __syncwarp() end a step
    std::array<Thread, 1024> threads_;
    std::array<Warp, 32> warps_;
    std::uint64_t versions_ = 0;                                     // of words that published
    Publication last_publication_;                                   // many words share its content
    std::vector<unsigned> fencing_;                                  // threads that had a fence in this generation
    std::vector<unsigned> learning_;                                 // threads that have read of other blocks in it
    BlockClock others_;                                              // other blocks, by reads of earlier generations
    Known fenced_for_device_;                                        // by fences of earlier generations of this block
    std::unordered_map<std::uint32_t, GridBarriers> grid_barriers_;  // by block
    std::unordered_map<std::uint32_t, std::uint32_t> arrivals_;      // generations of blocks that have only arrived
    std::unordered_map<std::uintptr_t, Word> words_;
    std::map<std::uint32_t, Known> published_;  // by block, through any word
};

class HappensBefore::Held {
    friend HappensBefore;
    std::uint32_t block = 0, generation = 0;
    std::vector<Thread> threads;
    std::array<Warp, 32> warps;
    std::vector<unsigned> fencing, learning;
    Known fenced_for_device;
    BlockClock others;
};

}  // namespace warplab_cpu
