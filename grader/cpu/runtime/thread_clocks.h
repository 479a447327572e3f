#pragma once
// The logical clocks of a grid's threads, and of the words by which the threads synchronise.

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/cpu/runtime/clock.h"

namespace warplab_cpu {

/// A thread in a generation of its block; the generation is the number of barriers that the block has passed.
struct Instant {
    std::uint32_t block = 0, generation = 0, thread = 0;  // block: Block::epoch; thread: linear index
    bool operator==(const Instant& other) const = default;
};

/// The barriers of the grid that each block has reached.
class GridBarriers {
  public:
    void clear() {
        reached_.clear();
        arrivals_.clear();
    }
    /// Record that a block arrives at its next barrier of the grid with this generation, and continues.
    void arrive(std::uint32_t block, std::uint32_t generation) { arrivals_[block] = generation; }
    /// Record that all threads of a block have reached a barrier of the grid. The block leaves it when all other blocks
    /// have reached it.
    void reach(std::uint32_t block, std::uint32_t generation);
    /// Return whether an access happened before the last barrier of the grid that a block has left. The block of the
    /// access may have reached the next barrier by now.
    bool is_before_last(std::uint32_t block, const Mark& earlier) const {
        return !reached_.empty() && is_before_last_of(block, earlier);
    }

  private:
    struct Reached {
        std::uint32_t count = 0, last_but_one = 0, last = 0;  // count: barriers; others: the block's generation there
    };
    bool is_before_last_of(std::uint32_t block, const Mark& earlier) const;
    std::unordered_map<std::uint32_t, Reached> reached_;
    std::unordered_map<std::uint32_t, std::uint32_t> arrivals_;  // the arrivals of blocks that have not yet waited
};

class ThreadClocks {
  public:
    /// `across_blocks`: also keep the clocks of other blocks.
    ThreadClocks(const GridBarriers& barriers, bool across_blocks)
        : barriers_(barriers), across_blocks_(across_blocks) {}

    void begin_grid();
    /// Continue a grid of which `other` has recorded only __syncwarp() so far.
    void begin_after(const ThreadClocks& other);

    bool any_fence() const { return any_fence_; }
    bool any_step() const { return any_step_; }
    std::uint32_t step_of(const Instant& at) { return thread(at, at.thread).step; }
    /// Return whether the thread's next write of a word publishes accesses.
    bool had_fence(const Instant& at) { return running(at).has_fence || !fenced_for_device_.empty(); }

    void fence(const Instant& at, bool of_device);
    void sync_lanes(const Instant& at, unsigned lanes);
    /// Record an atomic or volatile access. Return the word's number, from 0 in the order of first publications, or -1
    /// if the access neither published nor could have read a publication.
    int exchange(const Instant& at, std::uintptr_t word, bool reads, bool writes);

    /// Return whether an earlier access of the same block happens before the next access of this thread.
    bool knows(const Instant& at, const Mark& earlier) {
        if (earlier.thread == at.thread || earlier.generation != at.generation) return true;
        if (!any_step_) return false;
        const Thread& now = thread(at, at.thread);
        if (earlier.thread / 32 == at.thread / 32) {
            const unsigned lane = earlier.thread % 32;
            if (earlier.step < now.lanes[lane] || earlier.step < warp(at.thread).steps[lane]) return true;
        }
        return any_fence_ && now.acquired.covers(earlier);
    }
    /// Return whether the thread has learned of an earlier access of another block.
    bool knows_access(const Instant& at, const Mark& earlier);
    /// See HappensBefore::has_read(). Call this only for clocks across blocks.
    bool has_read(const Instant& at, std::uintptr_t word, const Mark& earlier);
    /// Return whether the block of an access has published the access by a write of any word.
    bool is_published(const Mark& mark) const;

    class Held;
    Held hold_block() const;
    void return_block(Held& held);

  private:
    /// A thread's observations and accesses in this generation.
    struct Thread {
        std::uint32_t block = 0, generation = 0, step = 0;
        bool has_fence = false, has_fence_for_device = false;
        std::array<std::uint32_t, 32> lanes{};    // steps of its warp's lanes that happen before it
        KnownAccesses acquired;                   // acquired by a fence after a read
        KnownAccesses observed;                   // observed by a read, but not yet acquired
        KnownAccesses fenced, fenced_for_device;  // published by the thread's next write
        BlockClock others;                        // accesses of other blocks, learned by reads
        std::uint64_t last_read = 0;              // the version of the word from which `others` was last read
    };
    /// Steps that happen before all lanes of a warp, by __syncwarp() of the whole warp in this generation.
    struct Warp {
        std::uint32_t block = 0, generation = 0;
        std::array<std::uint32_t, 32> steps{};
    };
    /// The last time that a thread published through a word, and the last time that it read the word, as versions of
    /// the word.
    struct Signal {
        std::uint64_t published = 0, published_for_device = 0, read = 0;
        std::uint32_t generation = 0, step = 0;  // when the read happened
    };
    /// Accesses that a word publishes: `in_block` and `others_in_block` only to the block of `in_block`.
    struct Word {
        KnownAccesses in_block;
        BlockClock others_in_block, published;
        std::uint64_t version = 0;  // unique in the grid
        int number = 0;
        std::unordered_map<std::uint64_t, Signal> signals;  // by thread_key(); only in clocks across blocks
    };

    /// The accesses that a thread publishes for the device until its next fence, or until it learns of other blocks.
    struct Publication {
        std::uint32_t block = 0, generation = 0, thread = 0, step = 0;
        BlockClock others;  // the accesses of other blocks that the thread has learned by reads
        BlockClock clock;   // published, with `others`
    };

    static std::uint64_t thread_key(std::uint32_t block, unsigned linear) {
        return std::uint64_t{block} << 32 | linear;
    }
    static std::uint64_t thread_key(const Instant& at) { return thread_key(at.block, at.thread); }
    bool knows_read(const Instant& at, std::uint64_t thread_key, const Signal& signal);
    void begin_block(std::uint32_t block);
    void begin_generation(std::uint32_t generation);
    /// Return the record of a thread of the block of `at`. Reset the record if it is of an earlier generation or block.
    Thread& thread(const Instant& at, unsigned linear) {
        Thread& slot = threads_[linear % threads_.size()];
        const bool current = slot.block == at.block && slot.generation == at.generation;
        return current && at.block == block_ && at.generation == generation_ ? slot : begin_thread(at, slot);
    }
    Thread& running(const Instant& at) { return thread(at, at.thread); }
    Thread& begin_thread(const Instant& at, Thread& slot);
    Warp& warp(unsigned linear);
    void sync_some_lanes(const Instant& at, unsigned first, unsigned lanes);
    void share_fences(const Instant& at, unsigned first, unsigned lanes);
    /// Let a thread know of accesses of other blocks.
    void learn(Thread& here, const BlockClock& others);
    void find_known_to(const Instant& at, KnownAccesses& known);
    void observe(const Instant& at, Word& word);
    void publish(const Instant& at, Word& word);
    const BlockClock& publication(const Instant& at, const Thread& here);

    const GridBarriers& barriers_;
    const bool across_blocks_;
    std::uint32_t block_ = 0, generation_ = 0;
    bool any_fence_ = false, any_step_ = false;  // in this grid; both a fence and a __syncwarp() end a step
    std::array<Thread, 1024> threads_;
    std::array<Warp, 32> warps_;
    std::uint64_t versions_ = 0;       // the number of published versions
    Publication last_publication_;     // many words share its content
    std::vector<unsigned> fencing_;    // threads that executed a fence in this generation
    std::vector<unsigned> learning_;   // threads that learned of other blocks' accesses in this generation
    BlockClock others_;                // accesses of other blocks, learned by reads in earlier generations
    KnownAccesses fenced_for_device_;  // accesses before the fences of this block in earlier generations
    std::unordered_map<std::uintptr_t, Word> words_;
    std::map<std::uint32_t, KnownAccesses> published_;  // by block, through any word
};

class ThreadClocks::Held {
    friend ThreadClocks;
    std::uint32_t block = 0, generation = 0;
    std::vector<Thread> threads;
    std::array<Warp, 32> warps;
    std::vector<unsigned> fencing, learning;
    KnownAccesses fenced_for_device;
    BlockClock others;
};

}  // namespace warplab_cpu
