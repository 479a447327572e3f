#pragma once
// Barriers, warp functions and fences. `line` is the line of the call, for reports of deadlocks.

#include <string.h>

#include <type_traits>

#include "arithmetic.h"
#include "scheduler.h"

#pragma GCC visibility push(default)

namespace warplab_cpu {

/// The operation by which a block barrier combines its threads' predicates.
enum class Vote { count, all, any };
int block_vote(int predicate, Vote vote, int line);

/// Warp functions. Each completes when all lanes of `mask` that have not returned have called it.
void warp_barrier(unsigned mask, int line);
unsigned warp_ballot(unsigned mask, bool predicate, int line);
/// Return the word of lane `source` of the warp; poison if that lane is not in the mask.
uint64_t warp_shuffle(unsigned mask, uint64_t word, unsigned source, int line);
unsigned warp_match_any(unsigned mask, uint64_t word, int line);
unsigned warp_match_all(unsigned mask, uint64_t word, int* all, int line);
enum class Reduction { add, minimum, maximum, minimum_signed, maximum_signed, bit_and, bit_or, bit_xor };
unsigned warp_reduce(unsigned mask, unsigned word, Reduction reduction, int line);
/// Combines the values of a group's threads: `places[i]` points to the value of the group's i-th thread, and is null if
/// the thread has returned.
using Combine = void (*)(void* const* places, unsigned count, void* context);
/// Warp function for a value of any type: the last lane of the mask to arrive runs `combine`, which may write through
/// the places.
void warp_combine(unsigned mask, void* place, Combine combine, void* context, int line);
/// Do the same for the block's threads k * size … (k + 1) * size - 1; `size` is 64, 128, 256 or 512. Without `combine`,
/// the function is only a barrier.
void tile_combine(unsigned size, void* place, Combine combine, void* context, int line);
/// Wait for all blocks of a cooperative launch. End the process if the launch is not cooperative.
void grid_barrier(int line);
bool is_cooperative_launch();
/// Wait until no other lane of the warp can still arrive. Return the lanes that wait here.
unsigned warp_converged(int line);

WARPLAB_CPU_INLINE unsigned lane() { return linear_thread() % 32; }

// Functions that the rewriter calls instead of inline PTX
WARPLAB_CPU_INLINE void compiler_fence() { __asm__ __volatile__("" ::: "memory"); }
WARPLAB_CPU_INLINE unsigned warp() { return linear_thread() / 32; }
/// Return a valid number of a multiprocessor, although blocks do not run on multiprocessors here.
WARPLAB_CPU_INLINE unsigned multiprocessor() {
    return (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) % multiprocessors;
}
WARPLAB_CPU_INLINE unsigned lanes_equal() { return 1u << lane(); }
WARPLAB_CPU_INLINE unsigned lanes_below() { return lanes_equal() - 1; }
WARPLAB_CPU_INLINE unsigned lanes_above() { return ~lanes_below() & ~lanes_equal(); }
WARPLAB_CPU_INLINE long long ticks() { return clock64(); }

/// The types that warp functions accept. Other types are an error at the caller's line.
template <class T, class Result = T>
using IfWord = std::enable_if_t<std::is_arithmetic_v<T> && sizeof(T) <= 8, Result>;
template <class T>
inline constexpr bool is_shuffled = std::is_arithmetic_v<T> && sizeof(T) <= 8;  // also types of 16 bits, and pairs
template <class T>
using IfShuffled = std::enable_if_t<is_shuffled<T>, T>;

template <class T>
WARPLAB_CPU_INLINE uint64_t to_word(T value) {
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(value));  // memcpy has hooks
    return word;
}

template <class T>
WARPLAB_CPU_INLINE T from_word(uint64_t word) {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &word, sizeof(value));
    return value;
}

template <class T>
WARPLAB_CPU_INLINE T shuffle(unsigned mask, T value, unsigned source, int line) {
    const uint64_t word = warp_shuffle(mask, to_word(value), source, line);
    restore_thread();
    return from_word<T>(word);
}

/// Wait for the other threads of the block. Return whether another thread has run.
WARPLAB_CPU_INLINE bool wait_for_block(int line) {
    Block& block = block_state;
    if (__builtin_expect(!block.current, 0) && !promote(true)) return false;
    if (++block.arrived == block.alive) {
        block.arrived = 0;
        ++block.generation;
        if (__builtin_expect(block.alive != block.threads, 0)) note_early_exit();
        return false;
    }
    const unsigned generation = block.generation;
    block.current->line = line;
    switch_to(block.current->next);
    while (__builtin_expect(block_state.generation == generation, 0)) switch_or_end();
    return true;
}
/// Do the same, compiled without hooks.
void wait_for_block_unseen(int line);

}  // namespace warplab_cpu

WARPLAB_CPU_INLINE void __syncthreads(warplab_cpu::Line line = {}) {
    using namespace warplab_cpu;
    note_barrier(line);
#ifdef WARPLAB_CPU_HOOKED
    wait_for_block_unseen(line);
    restore_thread();
#else
    if (wait_for_block(line)) threadIdx = block_state.current->thread;
#endif
}

#define WARPLAB_CPU_VOTE(function, vote)                                                      \
    inline int function(int predicate, warplab_cpu::Line line = {}) {                         \
        warplab_cpu::note_barrier(line);                                                      \
        const int result = warplab_cpu::block_vote(predicate, warplab_cpu::Vote::vote, line); \
        warplab_cpu::restore_thread();                                                        \
        return result;                                                                        \
    }
WARPLAB_CPU_VOTE(__syncthreads_count, count)
WARPLAB_CPU_VOTE(__syncthreads_and, all)
WARPLAB_CPU_VOTE(__syncthreads_or, any)
#undef WARPLAB_CPU_VOTE

inline void __syncwarp(unsigned mask = 0xffffffffu, warplab_cpu::Line line = {}) {
    warplab_cpu::warp_barrier(mask, line);
    warplab_cpu::restore_thread();
}

inline unsigned __activemask(warplab_cpu::Line line = {}) {
    const unsigned mask = warplab_cpu::warp_converged(line);
    warplab_cpu::restore_thread();
    return mask;
}

inline unsigned __ballot_sync(unsigned mask, int predicate, warplab_cpu::Line line = {}) {
    const unsigned votes = warplab_cpu::warp_ballot(mask, predicate != 0, line);
    warplab_cpu::restore_thread();
    return votes;
}
inline int __any_sync(unsigned mask, int predicate, warplab_cpu::Line line = {}) {
    return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, warplab_cpu::Line line = {}) {
    return __ballot_sync(mask, !predicate, line) == 0;
}
inline int __uni_sync(unsigned mask, int predicate, warplab_cpu::Line line = {}) {
    const unsigned votes = __ballot_sync(mask, predicate, line);
    return votes == 0 || (votes >> warplab_cpu::lane() & 1 && votes == __ballot_sync(mask, 1, line));
}

namespace warplab_cpu {

// One type for each shuffle. source() returns the lane whose value lane `here` gets.
struct ShuffleAny {
    static WARPLAB_CPU_INLINE unsigned source(unsigned here, int lane, int width) {
        return (here & ~(unsigned(width) - 1)) + (unsigned(lane) & (unsigned(width) - 1));
    }
};
struct ShuffleUp {
    static WARPLAB_CPU_INLINE unsigned source(unsigned here, unsigned delta, int width) {
        return (here & (unsigned(width) - 1)) >= delta ? here - delta : here;
    }
};
struct ShuffleDown {
    static WARPLAB_CPU_INLINE unsigned source(unsigned here, unsigned delta, int width) {
        const unsigned inside = here & (unsigned(width) - 1);
        return delta >= unsigned(width) - inside ? here : here + delta;
    }
};
struct ShuffleXor {
    static WARPLAB_CPU_INLINE unsigned source(unsigned here, int bits, int width) {
        const unsigned source = (here ^ unsigned(bits)) % 32;
        return source / unsigned(width) > here / unsigned(width) ? here : source;
    }
};

/// The values of a shuffle in a split kernel: first, each thread stores its value; then, each thread takes the value of
/// a thread of its warp.
class ShuffleValues {
  public:
    template <class T>
    WARPLAB_CPU_INLINE void give(unsigned thread, T value) {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                      "not supported in split kernels: compile without --split");
        reinterpret_cast<T*>(words_)[thread] = value;
    }

    template <class Shuffle, class T, class Argument>
    WARPLAB_CPU_INLINE T take(unsigned thread, T, Argument argument, int width) const {
        const unsigned here = thread % 32, source = Shuffle::source(here, argument, width) % 32;
        const unsigned from = thread - here + source;
        constexpr uint64_t nothing = uint64_t{poison_word} << 32 | poison_word;
        const bool is_there = from < blockDim.x * blockDim.y * blockDim.z;
        return is_there ? reinterpret_cast<const T*>(words_)[from] : from_word<T>(nothing);
    }

  private:
    uint64_t words_[1024];
};

/// Replaces the name of the shuffle in a call, and takes the shuffle's arguments.
template <class Shuffle>
struct ShuffleCall {
    const ShuffleValues& given;
    unsigned thread;

    template <class T, class Argument>
    WARPLAB_CPU_INLINE T operator()(unsigned, T value, Argument argument, int width = 32) const {
        return given.take<Shuffle>(thread, value, argument, width);
    }
};

}  // namespace warplab_cpu

#define WARPLAB_CPU_GIVEN(number) __attribute__((uninitialized)) ::warplab_cpu::ShuffleValues warplab_cpu_given_##number
#define WARPLAB_CPU_GIVE(number, ...) warplab_cpu_given_##number.give(warplab_cpu_thread, __VA_ARGS__)
#define WARPLAB_CPU_SHUFFLE(number, kind) \
    ::warplab_cpu::ShuffleCall<::warplab_cpu::kind> { warplab_cpu_given_##number, warplab_cpu_thread }

// The second function also accepts a floating-point number of lanes, as a GPU does, but g++ then prints a warning.
#define WARPLAB_CPU_SHUFFLE_OF_FIBERS(function, kind, type)                                                    \
    template <class T>                                                                                         \
    inline warplab_cpu::IfShuffled<T> function(unsigned mask, T value, type argument, int width = 32,          \
                                               warplab_cpu::Line line = {}) {                                  \
        using namespace warplab_cpu;                                                                           \
        return shuffle(mask, value, kind::source(lane(), argument, width), line);                              \
    }                                                                                                          \
    template <class T, class Lanes>                                                                            \
    [[deprecated(                                                                                              \
        "the third argument of a shuffle counts lanes, but this one is no integer: the arguments are mask, "   \
        "value, lanes")]] inline std::enable_if_t<std::is_floating_point_v<Lanes>, warplab_cpu::IfShuffled<T>> \
    function(unsigned mask, T value, Lanes lanes, int width = 32, warplab_cpu::Line line = {}) {               \
        return function(mask, value, type(lanes), width, line);                                                \
    }
WARPLAB_CPU_SHUFFLE_OF_FIBERS(__shfl_sync, ShuffleAny, int)
WARPLAB_CPU_SHUFFLE_OF_FIBERS(__shfl_up_sync, ShuffleUp, unsigned)
WARPLAB_CPU_SHUFFLE_OF_FIBERS(__shfl_down_sync, ShuffleDown, unsigned)
WARPLAB_CPU_SHUFFLE_OF_FIBERS(__shfl_xor_sync, ShuffleXor, int)
#undef WARPLAB_CPU_SHUFFLE_OF_FIBERS

template <class T>
inline warplab_cpu::IfWord<T, unsigned> __match_any_sync(unsigned mask, T value, warplab_cpu::Line line = {}) {
    const unsigned lanes = warplab_cpu::warp_match_any(mask, warplab_cpu::to_word(value), line);
    warplab_cpu::restore_thread();
    return lanes;
}
template <class T>
inline warplab_cpu::IfWord<T, unsigned> __match_all_sync(unsigned mask, T value, int* all,
                                                         warplab_cpu::Line line = {}) {
    const unsigned lanes = warplab_cpu::warp_match_all(mask, warplab_cpu::to_word(value), all, line);
    warplab_cpu::restore_thread();
    return lanes;
}

#define WARPLAB_CPU_REDUCE(type, function, reduction)                                                 \
    inline type function(unsigned mask, type value, warplab_cpu::Line line = {}) {                    \
        const unsigned result =                                                                       \
            warplab_cpu::warp_reduce(mask, unsigned(value), warplab_cpu::Reduction::reduction, line); \
        warplab_cpu::restore_thread();                                                                \
        return type(result);                                                                          \
    }
WARPLAB_CPU_REDUCE(unsigned, __reduce_add_sync, add)
WARPLAB_CPU_REDUCE(unsigned, __reduce_min_sync, minimum)
WARPLAB_CPU_REDUCE(unsigned, __reduce_max_sync, maximum)
WARPLAB_CPU_REDUCE(int, __reduce_add_sync, add)
WARPLAB_CPU_REDUCE(int, __reduce_min_sync, minimum_signed)
WARPLAB_CPU_REDUCE(int, __reduce_max_sync, maximum_signed)
WARPLAB_CPU_REDUCE(unsigned, __reduce_and_sync, bit_and)
WARPLAB_CPU_REDUCE(unsigned, __reduce_or_sync, bit_or)
WARPLAB_CPU_REDUCE(unsigned, __reduce_xor_sync, bit_xor)
#undef WARPLAB_CPU_REDUCE

inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    warplab_cpu::note_fence();
    warplab_cpu::note_spin();
    warplab_cpu::restore_thread();
}
inline void __threadfence_system() { __threadfence(); }
WARPLAB_CPU_INLINE void __threadfence_block() {
    __asm__ __volatile__("" ::: "memory");
    warplab_cpu::note_block_fence();
}
// These have no effect without the attribute of a dependent launch, which is refused.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
inline void __nanosleep(unsigned) {
    warplab_cpu::yield_thread();
    warplab_cpu::restore_thread();
}

#pragma GCC visibility pop
