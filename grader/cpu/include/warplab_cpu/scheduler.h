#pragma once
// The parts of the scheduler that are inlined into kernels: the state of the running block, and the switch between its
// threads. The rest is in grader/cpu/runtime.

#include <stddef.h>
#include <stdint.h>

#include "types.h"

#pragma GCC visibility push(default)

namespace warplab_cpu {

/// A thread of a block whose threads are fibers: the place where it continues, and the next thread.
struct alignas(64) Fiber {
    void* stack;
    void* frame;
    void* resume;
    Fiber* next;
    Fiber* previous;
    uint3 thread;
    unsigned linear;
    int line;  // where it waits
};

/// The block that this OS thread runs. `current` is null while the block's threads run as a plain loop.
struct Block {
    Fiber* current;
    unsigned threads, alive, arrived, generation;
    unsigned row, column;  // in a plain loop, their sum is the running thread
    unsigned epoch;        // identifies the block: increases with each block, copy or fill, and is never 0
    uintptr_t tls_begin;   // shared memory is in this OS thread's static thread-local storage
    uintptr_t tls_bytes;
};
extern WARPLAB_CPU_THREAD_LOCAL Block block_state __attribute__((tls_model("local-exec")));

extern unsigned multiprocessors;                      // of the simulated device
inline constexpr unsigned poison_word = 0xFFF7A5C3u;  // a NaN, a negative number, not a pointer

/// Return whether this OS thread is inside a kernel.
bool in_kernel();

/// Allocate and free memory for new and delete; in a kernel, on the device's heap.
void* new_memory(size_t bytes);
void delete_memory(void* place) noexcept;

void fill_poison(void* begin, size_t bytes);
/// Describes the declaration of a __shared__ variable.
struct SharedDeclaration {
    const char* name;
    int line;
    size_t bytes, alignment;
};
/// Poison a shared variable when the block reaches its declaration. End the process if the block's shared variables
/// take more than 48 KB.
void begin_shared(void* begin, const SharedDeclaration& variable);

/// Turn the loop's thread and the threads after it into fibers. Return false if no thread comes after it, so that there
/// is no thread to wait for; at the barrier of a block with several threads, the others have then returned too early.
bool promote(bool at_barrier);
/// Let the next fiber run, because the current one must wait. End the process if no fiber can continue.
void switch_or_end();
/// End the first fiber, whose thread has returned, and run the others to their ends.
void finish_fibers();
/// Record that threads of the block returned before a barrier at which others wait.
void note_early_exit();

// For the sanitizer (grader/cpu/runtime/sanitizer.cpp).
#ifdef WARPLAB_CPU_FAST
inline void note_barrier(int) {}
inline void note_async_copy(void*, const void*, size_t, const void* = nullptr, unsigned = 0) {}
inline void note_async_commit() {}
inline void note_async_wait(unsigned = 0) {}
inline void note_async_phases(const void*, unsigned) {}
inline void note_grid_arrival() {}
inline void note_fence() {}
inline void note_block_fence() {}
inline void note_built_ins(bool) {}
#else
void note_barrier(int line);
/// Record a copy of the running thread; `from` is null if the copy writes zeros. The copy is unfinished until the
/// thread waits for it or, with a barrier, until the barrier's phase ends.
void note_async_copy(void* to, const void* from, size_t bytes, const void* barrier = nullptr, unsigned phase = 0);
/// End a batch of the running thread's copies.
void note_async_commit();
/// Record that the running thread has waited for its batches, except the last `prior` ones.
void note_async_wait(unsigned prior = 0);
/// Record that all phases of a barrier before this one have ended.
void note_async_phases(const void* barrier, unsigned phase);
/// Record that the grid's next barrier does not order later accesses of the block.
void note_grid_arrival();
void note_fence();
void note_block_fence();
/// Let kernels use the variables that are written between the two calls, such as threadIdx.
void note_built_ins(bool begin);
#endif
/// Report that an asynchronous copy's address is not a multiple of the alignment.
void report_misaligned_copy(const void* address, size_t alignment, bool writes);
WARPLAB_CPU_INLINE void check_copy_alignment(const void* to, const void* from, size_t alignment) {
    if (reinterpret_cast<unsigned long>(to) % alignment) report_misaligned_copy(to, alignment, true);
    if (reinterpret_cast<unsigned long>(from) % alignment) report_misaligned_copy(from, alignment, false);
}
/// Let another thread run before some of the atomics that expect a value, because on a GPU the value may have changed.
void yield_before_atomic();
/// Do the same before an atomic on memory that the kernel has checked before. The first such atomics of a block always
/// let another thread run.
void yield_before_update();
WARPLAB_CPU_INLINE void yield_before_checked_atomic();
/// The value by which find_thread_index() recognises a kernel's threadIdx, so that a hook during which other threads
/// run can restore it. The kernel does not pass the variable's address, because the compiler would then have to assume
/// that each store through a pointer changes it.
inline constexpr uint3 thread_index_mark{0x9E3779B9u, 0x7F4A7C15u, 0xF39CC060u};
void find_thread_index();
/// Record that a thread reads a volatile variable, in the code with the return address `caller`. If it reads the same
/// value very often, it waits for another thread.
void note_volatile_read(const volatile void* place, size_t width, const void* caller);
/// Record an operation that a waiting thread may repeat, such as an atomic that did not find the expected value. After
/// several of these in a row, another thread runs.
void note_spin();
/// Let other threads run.
void yield_thread();
/// Let other threads run, because this one waits until one of them changes memory.
void wait_for_change();

#if defined(__x86_64__)
WARPLAB_CPU_INLINE void switch_fiber(Fiber* from, Fiber* to) {
    __asm__ __volatile__(
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rbp, 8(%0)\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 16(%0)\n\t"
        "movq 0(%1), %%rsp\n\t"
        "movq 8(%1), %%rbp\n\t"
        "jmpq *16(%1)\n"
        "1:"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15");
}
#elif defined(__aarch64__)
WARPLAB_CPU_INLINE void switch_fiber(Fiber* from, Fiber* to) {
    register Fiber* x0 __asm__("x0") = from;
    register Fiber* x1 __asm__("x1") = to;
    __asm__ __volatile__(
        "mov x9, sp\n\t"
        "adr x10, 1f\n\t"
        "stp x9, x29, [x0]\n\t"
        "str x10, [x0, #16]\n\t"
        "ldp x9, x29, [x1]\n\t"
        "ldr x10, [x1, #16]\n\t"
        "mov sp, x9\n\t"
        "br x10\n"
        "1:"
        : "+r"(x0), "+r"(x1)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
          "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1", "v2",
          "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
          "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
#else
#error "the CPU backend has no fibers for this architecture; use x86-64 or aarch64"
#endif

WARPLAB_CPU_INLINE void switch_to(Fiber* to) {
    Fiber* from = block_state.current;
    block_state.current = to;
    switch_fiber(from, to);
}

/// Load a word of the scheduler without a hook.
template <class Word>
WARPLAB_CPU_INLINE auto load_unobserved(const Word& word) {
#if defined(WARPLAB_CPU_HOOKED) && defined(__x86_64__)
    Word value;
    __asm__("mov %1, %0" : "=r"(value) : "m"(word));
    return value;
#elif defined(WARPLAB_CPU_HOOKED) && defined(__aarch64__)
    Word value;
    if constexpr (sizeof(Word) == 4)
        __asm__("ldr %w0, %1" : "=r"(value) : "m"(word));
    else
        __asm__("ldr %0, %1" : "=r"(value) : "m"(word));
    return value;
#else
    return word;
#endif
}

/// Return threadIdx of the running thread.
uint3 index_of_thread();

WARPLAB_CPU_INLINE void restore_thread() {
#ifdef WARPLAB_CPU_HOOKED
    // GCC's hooks do not see the write of a call's result. A branch here could hide the accesses that follow it.
    threadIdx = index_of_thread();
#else
    if (block_state.current) threadIdx = block_state.current->thread;
#endif
}

WARPLAB_CPU_INLINE void yield_before_checked_atomic() {
    yield_before_update();
    restore_thread();
}

WARPLAB_CPU_INLINE unsigned linear_thread() {
    const Fiber* fiber = load_unobserved(block_state.current);
    if (!fiber) return load_unobserved(block_state.row) + load_unobserved(block_state.column);
    __asm__ __volatile__("" : "+r"(fiber));  // otherwise, GCC may move the next load before the test
    return load_unobserved(fiber->linear);
}

WARPLAB_CPU_INLINE bool is_shared(const void* address) {
    return reinterpret_cast<uintptr_t>(address) - block_state.tls_begin < block_state.tls_bytes;
}

#ifdef WARPLAB_CPU_FAST
// Copies of block_state.tls_begin and tls_bytes. Like the built-in variables, they cannot be changed by a kernel's
// stores, so a loop loads them only once.
static WARPLAB_CPU_THREAD_LOCAL uintptr_t shared_begin __attribute__((unused));
static WARPLAB_CPU_THREAD_LOCAL uintptr_t shared_bytes __attribute__((unused));
#endif

/// Return whether an atomic needs no locked instruction. With the sanitizer, all atomics need one, so that the hooks
/// see them.
WARPLAB_CPU_INLINE bool needs_no_lock([[maybe_unused]] const void* address) {
#ifdef WARPLAB_CPU_FAST
    return reinterpret_cast<uintptr_t>(address) - shared_begin < shared_bytes;
#else
    return false;
#endif
}

}  // namespace warplab_cpu

#pragma GCC visibility pop
