#include "grader/cpu/runtime/scheduler.h"

#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "grader/cpu/include/warplab_cpu/sync.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/standstill.h"
#include "grader/cpu/runtime/tracer.h"

WARPLAB_CPU_THREAD_LOCAL bool warplab_in_kernel __attribute__((tls_model("local-exec")));

namespace warplab_cpu {

using warplab::trace::OperationKind;

WARPLAB_CPU_THREAD_LOCAL Block block_state;
WARPLAB_CPU_THREAD_LOCAL DynamicShared dynamic_shared_memory;

namespace {

constexpr unsigned max_threads = 1024, lanes_per_warp = 32;
using warplab::unknown_thread;
constexpr unsigned tile_sizes = 4;                                          // 64, 128, 256, 512
constexpr size_t page_bytes = 4096, stack_bytes = 256 * 1024 + page_bytes;  // not a power of two: fewer TLB conflicts

struct Warp {
    unsigned pending;     // lanes that wait in a warp function
    unsigned returned;    // lanes that have ended or do not exist
    unsigned converging;  // lanes that wait in warp_converged
    uint64_t given[lanes_per_warp], result[lanes_per_warp];
    uint8_t source[lanes_per_warp];
    unsigned mask[lanes_per_warp];  // the lanes for which a pending lane waits
    int line[lanes_per_warp];       // the line of each lane's warp_converged
    unsigned in_tile[tile_sizes];   // lanes that wait in tile_combine, by the tile's size
};

/// Blocks of one grid, which OS threads take in order.
struct Job {
    const Grid* grid;
    uint64_t blocks, chunk;  // chunk: the number of blocks that an OS thread takes at once
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    std::atomic<uint64_t> next{0};
    std::atomic<unsigned> running{0}, still{0};  // OS threads that run blocks, and those whose block makes no progress
};

/// A volatile variable that a thread reads repeatedly.
struct Polled {
    const volatile void* place;
    uint64_t value;
    unsigned thread, times;
};

/// An OS thread's state for running blocks.
struct Worker {
    Fiber fibers[max_threads];
    Warp warps[max_threads / lanes_per_warp];
    Fiber* loop_fiber;  // the fiber on the OS thread's own stack
    const Grid* grid;
    uint3 block;
    char* stacks;
    unsigned stack_count;
    dim3 shape;  // the block's shape for which the fibers have thread indices
    bool backward;
    bool early_exit_noted;
    size_t static_shared;     // bytes of the block's __shared__ variables so far
    unsigned votes;           // true predicates at the block's barrier so far
    unsigned vote_result[2];  // the results of the last two generations
    unsigned vote_total[2];   // the threads that took part in these
    uint64_t happened;        // counts events which show that the block makes progress
    uint64_t seen_happened;
    unsigned seen_generation, seen_arrived;
    unsigned idle;          // turns without progress since the seen_ values were set
    bool spun;              // in some of these turns, threads waited for memory to change
    bool tried;             // these threads repeatedly read memory, or attempted an atomic
    const void* try_place;  // the return address of such an attempt
    unsigned spin_thread, spins;
    Job* job;                // null for a cooperative grid
    uint64_t left_in_chunk;  // blocks that this OS thread starts after the one it runs
    uint3* thread_index;     // threadIdx of the file that the kernel is in
    Polled polled;
    const char* stack_begin;    // the upper end of the kernels' part of the OS thread's stack
    bool stalled;               // no thread of the running block made progress in its last turn
    const Fiber* comparing;     // in this thread's turn, the block is compared with its earlier state
    bool is_still;              // job->still counts this worker
    Fiber* leaving_fiber;       // in a cooperative launch: the thread that lets the next block run
    bool left_to_spin;          // the block waits for another block's write, not in grid_barrier
    uint64_t digest_when_left;  // the digest of the shared variables when the block was left
    bool at_grid_barrier;       // threads of the block are in grid_barrier
    int grid_line;              // the line of grid_barrier
    void* places[max_threads];  // pointers to the values of the threads that wait in tile_combine
    unsigned random_state;      // the state of draw_one_in_16
    unsigned checked_atomics;   // the block's calls of yield_before_update so far, up to a limit
};
WARPLAB_CPU_THREAD_LOCAL Worker* worker __attribute__((tls_model("local-exec")));

/// Record that this OS thread begins to run a grid, or no longer runs one.
void set_grid(Worker& w, const Grid* grid) {
    w.grid = grid;
    warplab_in_kernel = grid != nullptr;
}
constinit thread_local Standstill standstill;

warplab::cpu::ThreadOrder thread_order = warplab::cpu::ThreadOrder::forward;
std::atomic<uint64_t> early_exit_blocks{0};

unsigned thread_count(const dim3& extent) { return extent.x * extent.y * extent.z; }

void find_thread_locals() {
    struct ThreadLocals {
        uintptr_t begin = 0;
        size_t bytes = 0;
    } thread_locals;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            auto* result = static_cast<ThreadLocals*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i)
                if (info->dlpi_phdr[i].p_type == PT_TLS) result->bytes = info->dlpi_phdr[i].p_memsz;
            result->begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
            return 1;  // the first object is the executable
        },
        &thread_locals);
    block_state.tls_begin = thread_locals.begin;
    block_state.tls_bytes = thread_locals.bytes;
}

/// Frees the worker of a host thread when the thread ends.
struct WorkerOwner {
    ~WorkerOwner() {
        if (!worker || worker->grid) return;  // a kernel called exit()
        if (worker->stacks) munmap(worker->stacks, stack_bytes * max_threads);
        munmap(worker, sizeof(Worker));
        worker = nullptr;
    }
};

Worker& new_worker() {
    static thread_local WorkerOwner owner;
    (void)owner;
    worker =
        static_cast<Worker*>(mmap(nullptr, sizeof(Worker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (worker == MAP_FAILED) end_with_fault(warplab::Fault::no_memory, "no memory for the threads of a block");
    find_thread_locals();
    prepare_thread_for_faults();
    return *worker;
}

Worker& this_worker() {
    Worker& w = worker ? *worker : new_worker();
    const size_t bytes = w.stacks ? stack_bytes * max_threads : 0;
    if (observer)
        scheduler_memory = {reinterpret_cast<uintptr_t>(w.stacks), bytes, reinterpret_cast<uintptr_t>(&w), sizeof(w)};
    return w;
}

/// Open `count` stacks, beginning with `first`, each above an inaccessible page. On Linux 6.13 or newer, mark such
/// pages within one mapping: a thousand mappings take longer than many kernels.
bool open_stacks(char* first, unsigned count) {
    constexpr int guard_install = 102;  // MADV_GUARD_INSTALL, which Debian 12 does not declare
    constexpr int no_advice = 9999;     // qemu-user accepts any number, but has no guard pages
    const auto guard = [&](unsigned i) { return madvise(first + i * stack_bytes, page_bytes, guard_install) == 0; };
    if (madvise(first, page_bytes, no_advice) != 0 && guard(0)) {
        for (unsigned i = 1; i < count; ++i)
            if (!guard(i)) return false;
        return mprotect(first, count * stack_bytes, PROT_READ | PROT_WRITE) == 0;
    }
    for (unsigned i = 0; i < count; ++i) {
        char* const lowest = first + i * stack_bytes + page_bytes;
        if (mprotect(lowest, stack_bytes - page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    }
    return true;
}

/// Provide stacks for fibers 0 to count-1.
void provide_stacks(Worker& w, unsigned count) {
    if (count <= w.stack_count) return;
    if (!w.stacks) {
        void* area = mmap(nullptr, stack_bytes * max_threads, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (area == MAP_FAILED) end_with_fault(warplab::Fault::no_memory, "no memory for the threads' stacks");
        w.stacks = static_cast<char*>(area);
        if (observer) {
            scheduler_memory.stacks = reinterpret_cast<uintptr_t>(area);
            scheduler_memory.stack_bytes = stack_bytes * max_threads;
        }
    }
    if (!open_stacks(w.stacks + w.stack_count * stack_bytes, count - w.stack_count))
        end_with_fault(warplab::Fault::no_memory, "no memory for the threads' stacks");
    w.stack_count = count;
}

/// Return the top of a fiber's stack. Tops differ in their low bits; otherwise, the most used cache lines of all
/// threads would share a few cache sets.
void* stack_top(const Worker& w, unsigned fiber) {
    const size_t shift = (fiber * 5 % 61) * 64;
    return w.stacks + (fiber + 1) * stack_bytes - shift - 256;
}

void unlink(Fiber& fiber) {
    fiber.next->previous = fiber.previous;
    fiber.previous->next = fiber.next;
}

void release_block(Worker& w, Block& block) {
    w.vote_result[block.generation & 1] = w.votes;
    w.vote_total[block.generation & 1] = block.alive;
    w.votes = 0;
    block.arrived = 0;
    ++block.generation;
    if (block.alive != block.threads) note_early_exit();
}

/// End the current fiber, which has run its thread to the end.
void retire(Worker& w) {
    Block& block = block_state;
    Fiber& fiber = *block.current;
    --block.alive;
    ++w.happened;
    w.warps[fiber.linear / lanes_per_warp].returned |= 1u << fiber.linear % lanes_per_warp;
    unlink(fiber);
    if (block.alive && block.arrived == block.alive && !w.at_grid_barrier) release_block(w, block);
}

[[noreturn]] void fiber_main() {
    Worker& w = *worker;
    Fiber& fiber = *block_state.current;
    w.grid->run_thread(*w.grid, fiber);
    retire(w);
    switch_to(block_state.alive ? fiber.next : w.loop_fiber);
    __builtin_unreachable();
}

/// Set the thread indices of all fibers. They are kept from block to block.
void number_fibers(Worker& w, const Grid& grid) {
    const dim3& shape = grid.threads;
    if (w.shape.x == shape.x && w.shape.y == shape.y && w.shape.z == shape.z) return;
    w.shape = shape;
    unsigned linear = 0;
    for (unsigned z = 0; z < shape.z; ++z)
        for (unsigned y = 0; y < shape.y; ++y)
            for (unsigned x = 0; x < shape.x; ++x, ++linear) {
                w.fibers[linear].thread = {x, y, z};
                w.fibers[linear].linear = linear;
            }
}

/// Make a fiber ready to start.
void prepare_fiber(Worker& w, unsigned linear) {
    Fiber& fiber = w.fibers[linear];
    fiber.stack = stack_top(w, linear);
    fiber.frame = nullptr;
    fiber.resume = reinterpret_cast<void*>(&fiber_main);
    fiber.line = 0;
#if defined(__x86_64__)
    fiber.stack = static_cast<char*>(fiber.stack) - 8;  // as after a call
    *static_cast<void**>(fiber.stack) = nullptr;        // a null return address ends a backtrace
#endif
}

/// Link the fibers first, first + step … (count of them) into a ring, and make all but the first ready to start.
void ready_fibers(Worker& w, unsigned first, unsigned step, unsigned count) {
    Fiber* previous = &w.fibers[first];
    for (unsigned i = 1, linear = first + step; i < count; ++i, linear += step) {
        Fiber& fiber = w.fibers[linear];
        prepare_fiber(w, linear);
        fiber.previous = previous;
        previous->next = &fiber;
        previous = &fiber;
    }
    previous->next = &w.fibers[first];
    w.fibers[first].previous = previous;
}

void reset_warps(Worker& w, unsigned threads, unsigned first, bool backward) {
    for (unsigned i = 0; i * lanes_per_warp < threads; ++i) {
        const unsigned lanes = std::min(lanes_per_warp, threads - i * lanes_per_warp);
        w.warps[i].pending = w.warps[i].converging = 0;
        std::ranges::fill(w.warps[i].in_tile, 0);
        w.warps[i].returned = lanes == 32 ? 0 : ~0u << lanes;
    }
    // The threads before the first fiber have already ended in the loop.
    const unsigned begin = backward ? first + 1 : 0, end = backward ? threads : first;
    for (unsigned i = begin; i < end; ++i) w.warps[i / lanes_per_warp].returned |= 1u << i % lanes_per_warp;
}

std::string describe_waiting_threads() {
    const Block& block = block_state;
    std::map<int, unsigned> lines;
    const Fiber* fiber = block.current;
    if (!fiber) return "1 of " + std::to_string(block.threads) + " threads keeps retrying the same operation";
    for (unsigned i = 0; i < block.alive; ++i, fiber = fiber->next) ++lines[fiber->line];
    std::string text;
    for (const auto& [line, count] : lines) {
        if (!text.empty()) text += ", ";
        text += std::to_string(count);
        if (&*lines.begin() == &*lines.find(line)) text += " of " + std::to_string(block.threads) + " threads";
        text += line < 0 ? " keep retrying the same operation" : " wait at line " + std::to_string(line);
    }
    if (block.alive < block.threads) text += ", " + std::to_string(block.threads - block.alive) + " returned";
    return text;
}

/// Let the lanes of each warp that wait in warp_converged at the same line continue together. Return whether any do.
bool release_converging(Worker& w) {
    bool any = false;
    for (unsigned i = 0; i * lanes_per_warp < block_state.threads; ++i) {
        Warp& warp = w.warps[i];
        while (warp.converging) {
            const int line = warp.line[__builtin_ctz(warp.converging)];
            unsigned group = 0;
            for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
                if (warp.converging >> lane & 1 && warp.line[lane] == line) group |= 1u << lane;
            for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
                if (group >> lane & 1) warp.result[lane] = group;
            warp.converging &= ~group;
            any = true;
        }
    }
    return any;
}

/// Report a lane that waits in a warp function for lanes of its mask that never arrive. Called only with the sanitizer,
/// whose report names the current thread: the waiting lane is the current one during the report.
void report_missing_lanes(Worker& w) {
    for (unsigned linear = 0; linear < block_state.threads; ++linear) {
        const Warp& warp = w.warps[linear / lanes_per_warp];
        const unsigned lane = linear % lanes_per_warp;
        if (!(warp.pending >> lane & 1)) continue;
        const unsigned missing = warp.mask[lane] & ~warp.returned & ~warp.pending;
        if (!missing) continue;
        const std::string reason = "lane " + std::to_string(lane) + " waits for lane " +
                                   std::to_string(__builtin_ctz(missing)) +
                                   ", which its mask names but which never arrives";
        Fiber* const current = std::exchange(block_state.current, &w.fibers[linear]);
        observer->defect_found(warplab::FindingKind::lane_mask, w.fibers[linear].line, "", reason);
        block_state.current = current;
        return;
    }
}

/// Let the next block of a cooperative launch run. Return when it is this block's turn again.
void leave_block(Worker& w, bool spins) {
    w.leaving_fiber = block_state.current;
    w.left_to_spin = spins;
    switch_to(w.loop_fiber);
}

void call_helpers();

void resume_block(Worker& w) {
    standstill.end();
    if (w.is_still) --w.job->still;
    w.is_still = w.stalled = false;
}

[[noreturn]] void end_hanging_grid(const Worker& w) {
    const uint64_t left = w.job ? w.left_in_chunk + w.job->blocks - std::min(w.job->next.load(), w.job->blocks) : 0;
    const std::string text = "in block (" + std::to_string(w.block.x) + "," + std::to_string(w.block.y) + "," +
                             std::to_string(w.block.z) + "), " + describe_waiting_threads() +
                             "; memory no longer changes";
    const std::string others = left == 0
                                   ? ", and all other blocks have ended or wait, too"
                                   : ", and " + std::to_string(left) + (left == 1 ? " block starts" : " blocks start") +
                                         " only after this one has ended" +
                                         (w.grid->backward ? "; here, the last block starts first" : "");
    const auto fault = left == 0          ? warplab::Fault::hang
                       : w.grid->backward ? warplab::Fault::hang_before_earlier
                                          : warplab::Fault::hang_before_later;
    end_with_fault_at(w.try_place, fault, text + others);
}

const char* stack_end(const Worker& w, unsigned fiber) { return w.stacks + (fiber + 1) * stack_bytes; }

/// The registers that a function preserves for its caller, and the beginning of its stack.
struct Context {
    uint64_t registers[19];
    const char* stack;
};

inline __attribute__((always_inline)) void read_context(Context& context) {
#ifdef __x86_64__
    __asm__ __volatile__(
        "movq %%rbx, (%1); movq %%rbp, 8(%1); movq %%r12, 16(%1); movq %%r13, 24(%1); movq %%r14, 32(%1);"
        "movq %%r15, 40(%1); movq %%rsp, %0"
        : "=&r"(context.stack)
        : "r"(context.registers)
        : "memory");
#else
    __asm__ __volatile__(
        "stp x19, x20, [%1]; stp x21, x22, [%1, 16]; stp x23, x24, [%1, 32]; stp x25, x26, [%1, 48];"
        "stp x27, x28, [%1, 64]; stp d8, d9, [%1, 80]; stp d10, d11, [%1, 96]; stp d12, d13, [%1, 112];"
        "stp d14, d15, [%1, 128]; str x29, [%1, 144]; mov %0, sp"
        : "=&r"(context.stack)
        : "r"(context.registers)
        : "memory");
#endif
}

/// Return the digest with a thread's stack added. The first thread that waited for others runs on the OS thread's
/// stack.
uint64_t add_stack(const Worker& w, uint64_t digest, const Fiber* fiber, const char* begin) {
    const bool is_own_stack = fiber && static_cast<size_t>(begin - w.stacks) < stack_bytes * w.stack_count;
    const char* const end = is_own_stack ? stack_end(w, fiber->linear) : w.stack_begin;
    return add_to_digest(digest, {begin, static_cast<size_t>(end - begin)});
}

/// Clear the memory below the stack. Otherwise, gaps in the next frames would contain data of earlier calls, such as
/// times.
[[gnu::noinline]] void clear_unused_stack() {
    char unused[1024];
    memset(unused, 0, sizeof unused);
    __asm__ __volatile__("" ::"r"(unused) : "memory");
}

/// Return a digest of all data that the block's threads can read. If two digests are equal, the threads only repeat the
/// same steps. A thread's registers are in `context` or in the frames between this function and the kernel.
[[gnu::noinline]] uint64_t digest_of_block(const Worker& w) {
    static thread_local Context context;
    read_context(context);
    uint64_t digest = add_to_digest(standstill.digest_of_shared(), {context.registers, sizeof context.registers});
    const Fiber* const current = block_state.current;
    digest = add_stack(w, digest, current, context.stack);
    for (const Fiber* fiber = current ? current->next : current; fiber != current; fiber = fiber->next)
        digest = add_stack(w, digest, fiber, static_cast<const char*>(fiber->stack));
    return digest;
}

/// Handle a block whose threads wait for memory that another block may still change.
void handle_waiting_block(Worker& w) {
    call_helpers();
    if (!std::exchange(w.stalled, true)) w.comparing = block_state.current;
    if (!w.is_still && w.comparing == block_state.current && standstill.is_time_to_compare()) {
        clear_unused_stack();
        standstill.compare_memory(digest_of_block(w));
    }
    if (!w.is_still && standstill.has_lasted()) {
        w.is_still = true;
        ++w.job->still;
    }
    if (w.is_still && w.job->still == w.job->running) end_hanging_grid(w);
    sched_yield();
}

/// Handle a round in which no thread made progress.
void handle_idle_round(Worker& w) {
    w.idle = 0;
    if (release_converging(w)) return;
    if (!w.spun && observer) report_missing_lanes(w);
    if (!w.spun) end_with_fault(warplab::Fault::deadlock, describe_waiting_threads());
    w.spun = false;
    const bool tried = std::exchange(w.tried, false);  // false: the threads wait for time to pass
    if (w.grid->cooperative) {
        w.digest_when_left = tried ? standstill.digest_of_shared() : w.digest_when_left + 1;
        return leave_block(w, true);
    }
    if (!tried) resume_block(w);
    handle_waiting_block(w);
}

void take_turn(Worker& w) {
    Block& block = block_state;
    if (w.seen_happened != w.happened || w.seen_generation != block.generation || w.seen_arrived != block.arrived) {
        w.seen_happened = w.happened;
        w.seen_generation = block.generation;
        w.seen_arrived = block.arrived;
        w.idle = 0;
        resume_block(w);
    } else if (++w.idle >= block.alive) {
        handle_idle_round(w);
    }
    switch_to(block.current->next);
}

/// Return the next of the warp's missing lanes, in the order in which threads run.
Fiber* missing_lane(Worker& w, const Fiber& here, unsigned missing) {
    const unsigned lane = here.linear % lanes_per_warp, first = here.linear - lane;
    unsigned pick;
    if (w.grid->backward) {
        const unsigned before = missing & ((1u << lane) - 1);
        pick = 31 - __builtin_clz(before ? before : missing);
    } else {
        const unsigned after = missing & ~((2u << lane) - 1);
        pick = __builtin_ctz(after ? after : missing);
    }
    return &w.fibers[first + pick];
}

/// Return whether all present lanes of the mask wait for this mask. A lane may still be at an earlier warp function
/// with other lanes.
bool all_wait_for_mask(const Warp& warp, unsigned mask, unsigned present) {
    if ((warp.pending & present) != present) return false;
    unsigned elsewhere = 0;
    for (unsigned i = 0; i < lanes_per_warp; ++i) elsewhere |= unsigned{warp.mask[i] != mask} << i;
    return !(elsewhere & present);
}

[[noreturn]] void end_outside_mask(int line) {
    const char* reason = "a thread calls a warp function whose mask does not include it";
    if (observer) observer->defect_found(warplab::FindingKind::lane_mask, line, "", reason);
    end_with_fault(warplab::Fault::refused, "line " + std::to_string(line) + ": " + reason);
}

/// Run a warp function. `given` and `source` are the lane's contributions. The last lane to arrive calls compute(warp,
/// lanes), which writes the `result` of every lane.
template <class Compute>
WARPLAB_CPU_INLINE uint64_t run_warp_function(unsigned mask, uint64_t given, unsigned source, int line,
                                              Compute compute) {
    Block& block = block_state;
    const bool alone = !block.current && !promote(false);
    Worker& w = *worker;
    const unsigned linear = linear_thread(), lane = linear % lanes_per_warp, bit = 1u << lane;
    Warp& warp = w.warps[linear / lanes_per_warp];
    if (!(mask & bit)) end_outside_mask(line);
    warp.given[lane] = given;
    warp.source[lane] = static_cast<uint8_t>(source);
    if (alone) {
        compute(warp, bit);
        return warp.result[lane];
    }
    unsigned present = mask & ~warp.returned;
    warp.pending |= bit;
    warp.mask[lane] = mask;
    if (!all_wait_for_mask(warp, mask, present)) {
        ++w.happened;
        Fiber& here = *block.current;
        here.line = line;
        const unsigned missing = present & ~warp.pending;
        switch_to(missing ? missing_lane(w, here, missing) : here.next);
        while (warp.pending & bit) {
            present = mask & ~warp.returned;
            if (all_wait_for_mask(warp, mask, present)) break;
            take_turn(w);
        }
        if (!(warp.pending & bit)) return warp.result[lane];
    }
    compute(warp, present);
    warp.pending &= ~present;
    return warp.result[lane];
}

}  // namespace

SchedulerMemory scheduler_memory;

bool in_kernel() { return worker && worker->grid; }

bool running_thread(uint3& block, uint3& thread) {
    if (!in_kernel()) return false;
    block = worker->block;
    const dim3& shape = worker->grid->threads;
    const unsigned linear = linear_thread();
    thread = {unknown_thread, unknown_thread, unknown_thread};
    if (!worker->grid->run_thread) return true;  // a split kernel: a loop runs all threads
    thread = {linear % shape.x, linear / shape.x % shape.y, linear / shape.x / shape.y};
    return true;
}

bool hits_stack_guard(const void* address) {
    if (!worker || !worker->stacks) return false;
    const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(worker->stacks);
    return offset < stack_bytes * worker->stack_count && offset % stack_bytes < page_bytes;
}

void fill_poison(void* begin, size_t bytes) {
    auto* words = static_cast<unsigned*>(begin);
    const size_t count = bytes / sizeof(unsigned);
    for (size_t i = 0; i < count; ++i) words[i] = poison_word;
    memcpy(words + count, &poison_word, bytes % sizeof(unsigned));
}

/// End the program if nvcc would refuse the kernel's __shared__ variables, or a GPU the launch.
static void check_shared_bytes(size_t bytes, const Grid& grid) {
    constexpr size_t max_bytes = max_static_shared_bytes;
    if (bytes + grid.shared_bytes <= max_bytes) return;
    const std::string taken = "the kernel's __shared__ variables take " + std::to_string(bytes) + " bytes",
                      allowed = std::to_string(max_bytes);
    if (bytes > max_bytes)
        end_with_fault(
            warplab::Fault::too_much_shared,
            taken + ", " + allowed + " are allowed; nvcc would refuse the kernel (extern __shared__ may have more)");
    if (grid.shared_bytes > 0 && !may_exceed_static_limit(grid))
        end_with_fault(warplab::Fault::too_much_shared,
                       taken + " and the launch requests " + std::to_string(grid.shared_bytes) +
                           "; together, at most " + allowed +
                           " are allowed unless cudaFuncSetAttribute is called: a GPU refuses the launch");
}

void begin_shared(void* begin, const SharedDeclaration& variable) {
    const size_t bytes = variable.bytes;
    fill_poison(begin, bytes);
    if (observer) observer->shared_begins(begin, variable);
    standstill.add_shared(begin, bytes);
    if (in_kernel()) check_shared_bytes(worker->static_shared += bytes, *worker->grid);
}

bool promote(bool at_barrier) {
    Worker& w = *worker;
    Block& block = block_state;
    const unsigned thread = linear_thread(), count = w.grid->backward ? thread + 1 : block.threads - thread;
    block.alive = count;
    if (count == 1) {
        w.warps[thread / lanes_per_warp].returned = ~(1u << thread % lanes_per_warp);
        if (at_barrier && block.threads != 1) note_early_exit();
        return false;
    }
    provide_stacks(w, block.threads);
    number_fibers(w, *w.grid);
    ready_fibers(w, thread, w.grid->backward ? -1u : 1u, count);
    reset_warps(w, block.threads, thread, w.grid->backward);
    block.arrived = 0;
    w.votes = w.idle = 0;
    w.spun = w.tried = false;
    w.loop_fiber = block.current = &w.fibers[thread];
    return true;
}

void finish_fibers() {
    Worker& w = *worker;
    Fiber* after = block_state.current->next;
    retire(w);
    if (block_state.alive) switch_to(after);
    block_state.current = nullptr;
}

void switch_or_end() { take_turn(*worker); }

void wait_for_block_unseen(int line) { wait_for_block(line); }

uint3 index_of_thread() {
    const Block& block = block_state;
    if (block.current) return block.current->thread;
    if (block.row == 0 || !in_kernel()) return {block.column, 0, 0};
    const dim3& shape = worker->grid->threads;
    return {block.column, block.row / shape.x % shape.y, block.row / shape.x / shape.y};
}

void note_early_exit() {
    Worker& w = *worker;
    if (w.early_exit_noted) return;
    w.early_exit_noted = true;
    early_exit_blocks.fetch_add(1, std::memory_order_relaxed);
    if (observer) observer->early_exit();
    note_early_exits();
}

void yield_thread() {
    if (!in_kernel()) return;
    const bool alone = !worker->grid->run_thread || (!block_state.current && !promote(false));
    Worker& w = *worker;
    if (alone) {
        if (!std::exchange(w.tried, false)) resume_block(w);
        handle_waiting_block(w);
        return;
    }
    w.spun = true;
    if (block_state.current) block_state.current->line = -1;
    take_turn(w);
}

static void wait_for_change_at(const void* caller) {
    worker->tried = true;
    worker->try_place = caller;
    yield_thread();
}

void wait_for_change() {
    if (in_kernel()) wait_for_change_at(__builtin_return_address(0));
}

static void note_spin_at(const void* caller) {
    if (!in_kernel()) return;
    Worker& w = *worker;
    const unsigned thread = linear_thread();
    if (w.spin_thread != thread) {
        w.spin_thread = thread;
        w.spins = 0;
    }
    if (++w.spins < 32) return;
    w.spins = 0;
    wait_for_change_at(caller);
}

void note_spin() { note_spin_at(__builtin_return_address(0)); }

void find_thread_index() {
    const auto is_there = [](const char* place) {
        return place && memcmp(place, &thread_index_mark, sizeof thread_index_mark) == 0;
    };
    if (!in_kernel() || is_there(reinterpret_cast<char*>(worker->thread_index))) return;
    const char* place = reinterpret_cast<char*>(block_state.tls_begin);
    const char* const end = place + block_state.tls_bytes - sizeof(uint3);
    while (place <= end && !is_there(place)) place += alignof(uint3);
    worker->thread_index = place <= end ? reinterpret_cast<uint3*>(const_cast<char*>(place)) : nullptr;
}

/// Set threadIdx again after other threads ran in a hook, if the kernel reads it.
static void restore_thread_index() {
    if (block_state.current && worker->thread_index) *worker->thread_index = block_state.current->thread;
}

void note_volatile_read(const volatile void* place, size_t width, const void* caller) {
    constexpr unsigned polls_before_wait = 64;
    if (!in_kernel()) return;
    Polled& polled = worker->polled;
    const unsigned current = linear_thread();
    uint64_t value = 0;
    const bool is_repeated = polled.place == place && polled.thread == current;
    // A word that the thread has read before is readable.
    if (is_repeated) memcpy(&value, const_cast<const void*>(place), std::min(width, sizeof value));
    if (!is_repeated || polled.value != value) polled = {place, value, current, 0};
    if (++polled.times < polls_before_wait) return;
    note_spin_at(caller);
    restore_thread_index();
}

/// Return whether other threads may run before an atomic. They may not run while the sanitizer is on, because the
/// counts must be reproducible, or while a block without progress is compared with its earlier state.
static bool may_yield_before_atomic() { return !observer && in_kernel() && !worker->stalled; }

static bool draw_one_in_16() {
    // A counter instead of random numbers could always select the same atomic of a thread.
    worker->random_state = worker->random_state * 1664525u + 1013904223u;
    return worker->random_state >> 28 == 0;
}

static void yield_and_try() {
    worker->tried = true;  // the atomic follows immediately
    yield_thread();
}

void yield_before_atomic() {
    if (may_yield_before_atomic() && draw_one_in_16()) yield_and_try();
}

void yield_before_update() {
    if (!may_yield_before_atomic()) return;
    // At first, all threads of a block check before one of them updates: this order gives the largest number of wrong
    // results.
    const bool at_first = worker->checked_atomics < 2 * thread_count(worker->grid->threads);
    worker->checked_atomics += at_first;
    if (at_first || draw_one_in_16()) yield_and_try();
}

void let_others_run() {
    if (!in_kernel() || !worker->thread_index || worker->stalled) return;
    yield_and_try();
    restore_thread_index();
}

int block_vote(int predicate, Vote vote, int line) {
    trace_operation(OperationKind::barrier, __builtin_return_address(0));
    Block& block = block_state;
    const auto answer = [vote](unsigned votes_for, unsigned total) {
        return vote == Vote::count ? static_cast<int>(votes_for)
               : vote == Vote::all ? votes_for == total
                                   : votes_for != 0;
    };
    if (!block.current && !promote(true)) return answer(predicate != 0, 1);
    Worker& w = *worker;
    w.votes += predicate != 0;
    const unsigned generation = block.generation;
    if (++block.arrived == block.alive) {
        release_block(w, block);
    } else {
        block.current->line = line;
        switch_to(block.current->next);
        while (block.generation == generation) take_turn(w);
    }
    return answer(w.vote_result[generation & 1], w.vote_total[generation & 1]);
}

void warp_barrier(unsigned mask, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    run_warp_function(mask, 0, 0, line, [mask](const Warp& warp, unsigned lanes) {
        if (observer) observer->lanes_synchronised(lanes | (mask & warp.returned));
    });
}

unsigned warp_ballot(unsigned mask, bool predicate, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    return static_cast<unsigned>(run_warp_function(mask, predicate, 0, line, [](Warp& warp, unsigned lanes) {
        unsigned votes = 0;
        for (unsigned i = 0; i < lanes_per_warp; ++i) votes |= unsigned{warp.given[i] != 0} << i;
        votes &= lanes;  // other lanes may have given any word to a shuffle
        for (unsigned i = 0; i < lanes_per_warp; ++i)
            if (lanes >> i & 1) warp.result[i] = votes;
    }));
}

/// Report a lane that takes a value from an absent lane. Called only while the sanitizer is on.
void note_absent_lane(unsigned lane, unsigned from, int line) {
    const std::string reason = "Lane " + std::to_string(lane) + " of a warp takes a value from lane " +
                               std::to_string(from) + ", which does not take part";
    observer->defect_found(warplab::FindingKind::absent_lane, line, "", reason);
}

uint64_t warp_shuffle(unsigned mask, uint64_t word, unsigned source, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    return run_warp_function(mask, word, source, line, [line](Warp& warp, unsigned lanes) {
        constexpr uint64_t nothing = uint64_t{poison_word} << 32 | poison_word;
        for (unsigned i = 0; i < lanes_per_warp; ++i) {
            const unsigned from = warp.source[i] % lanes_per_warp;
            if (!(lanes >> i & 1)) continue;
            const bool is_there = lanes >> from & 1;
            warp.result[i] = is_there ? warp.given[from] : nothing;
            if (!is_there && observer) note_absent_lane(i, from, line);
        }
    });
}

unsigned warp_match_any(unsigned mask, uint64_t word, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    return static_cast<unsigned>(run_warp_function(mask, word, 0, line, [](Warp& warp, unsigned lanes) {
        for (unsigned i = 0; i < lanes_per_warp; ++i) {
            if (!(lanes >> i & 1)) continue;
            unsigned equal_lanes = 0;
            for (unsigned k = 0; k < lanes_per_warp; ++k) equal_lanes |= unsigned{warp.given[k] == warp.given[i]} << k;
            warp.result[i] = equal_lanes & lanes;
        }
    }));
}

unsigned warp_match_all(unsigned mask, uint64_t word, int* all, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    const auto result = static_cast<unsigned>(run_warp_function(mask, word, 0, line, [](Warp& warp, unsigned lanes) {
        const uint64_t first = warp.given[__builtin_ctz(lanes)];
        bool are_equal = true;
        for (unsigned i = 0; i < lanes_per_warp; ++i)
            if (lanes >> i & 1) are_equal = are_equal && warp.given[i] == first;
        for (unsigned i = 0; i < lanes_per_warp; ++i)
            if (lanes >> i & 1) warp.result[i] = are_equal ? lanes : 0;
    }));
    *all = result != 0;
    return result;
}

static unsigned reduced(Reduction reduction, unsigned a, unsigned b) {
    const int signed_a = static_cast<int>(a), signed_b = static_cast<int>(b);
    switch (reduction) {
        case Reduction::add:
            return a + b;
        case Reduction::minimum:
            return std::min(a, b);
        case Reduction::maximum:
            return std::max(a, b);
        case Reduction::minimum_signed:
            return static_cast<unsigned>(std::min(signed_a, signed_b));
        case Reduction::maximum_signed:
            return static_cast<unsigned>(std::max(signed_a, signed_b));
        case Reduction::bit_and:
            return a & b;
        case Reduction::bit_or:
            return a | b;
        case Reduction::bit_xor:
            return a ^ b;
    }
    __builtin_unreachable();
}

unsigned warp_reduce(unsigned mask, unsigned word, Reduction reduction, int line) {
    trace_operation(OperationKind::warp_function, __builtin_return_address(0));
    return static_cast<unsigned>(run_warp_function(mask, word, 0, line, [reduction](Warp& warp, unsigned lanes) {
        auto total = static_cast<unsigned>(warp.given[__builtin_ctz(lanes)]);
        for (unsigned remaining = lanes & (lanes - 1); remaining; remaining &= remaining - 1)
            total = reduced(reduction, total, static_cast<unsigned>(warp.given[__builtin_ctz(remaining)]));
        for (unsigned i = 0; i < lanes_per_warp; ++i)
            if (lanes >> i & 1) warp.result[i] = total;
    }));
}

void warp_combine(unsigned mask, void* place, Combine combine, void* context, int line) {
    run_warp_function(mask, reinterpret_cast<uint64_t>(place), 0, line, [=](Warp& warp, unsigned lanes) {
        void* places[lanes_per_warp];
        unsigned count = 0;
        for (unsigned remaining = mask; remaining; remaining &= remaining - 1) {
            const unsigned lane = __builtin_ctz(remaining);
            places[count++] = lanes >> lane & 1 ? reinterpret_cast<void*>(warp.given[lane]) : nullptr;
        }
        combine(places, count, context);
    });
}

namespace {

/// Return whether every thread of the warps [first, end) waits in the tile or has returned.
bool all_wait_in_tile(const Worker& w, unsigned level, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; ++i)
        if ((w.warps[i].in_tile[level] | w.warps[i].returned) != ~0u) return false;
    return true;
}

/// Combine the values of the tile's threads, all of which wait, and let them continue.
void release_tile(Worker& w, unsigned level, unsigned first, unsigned end, Combine combine, void* context) {
    void* places[max_threads / 2];
    unsigned count = 0;
    for (unsigned linear = first * lanes_per_warp; linear < end * lanes_per_warp; ++linear) {
        const bool waits = w.warps[linear / lanes_per_warp].in_tile[level] >> linear % lanes_per_warp & 1;
        places[count++] = waits ? w.places[linear] : nullptr;
    }
    if (combine) combine(places, count, context);
    for (unsigned i = first; i < end; ++i) w.warps[i].in_tile[level] = 0;
}

}  // namespace

void tile_combine(unsigned size, void* place, Combine combine, void* context, int line) {
    Block& block = block_state;
    const bool alone = !block.current && !promote(false);
    if (alone && combine) combine(&place, 1, context);
    if (alone) return;
    Worker& w = *worker;
    const unsigned linear = linear_thread(), level = __builtin_ctz(size) - 6;
    const unsigned first = linear / size * size / lanes_per_warp;
    const unsigned warps = (block.threads + lanes_per_warp - 1) / lanes_per_warp;
    const unsigned end = std::min(first + size / lanes_per_warp, warps);
    unsigned& waiting = w.warps[linear / lanes_per_warp].in_tile[level];
    const unsigned bit = 1u << linear % lanes_per_warp;
    const void* const key = &w.warps[first].in_tile[level];
    w.places[linear] = place;
    waiting |= bit;
    ++w.happened;
    block.current->line = line;
    if (observer) observer->releases(key);
    while (waiting & bit) {
        if (all_wait_in_tile(w, level, first, end))
            release_tile(w, level, first, end, combine, context);
        else
            take_turn(w);
    }
    if (observer) observer->acquires(key);
}

bool is_cooperative_launch() { return in_kernel() && worker->grid->cooperative; }

/// Let other blocks run: all threads of the block that have not returned are in grid_barrier.
static void run_other_blocks(Worker& w) {
    w.at_grid_barrier = false;
    if (observer) observer->block_reaches_grid_barrier();
    release_block(w, block_state);
    leave_block(w, false);
}

void grid_barrier(int line) {
    Block& block = block_state;
    if (!is_cooperative_launch())
        end_with_fault(
            warplab::Fault::refused,
            "line " + std::to_string(line) +
                ": grid.sync() needs a cooperative launch; start the kernel with cudaLaunchCooperativeKernel");
    Worker& w = *worker;
    block.current->line = w.grid_line = line;
    w.at_grid_barrier = true;
    const unsigned generation = block.generation;
    ++block.arrived;
    while (block.generation == generation) {
        if (block.arrived == block.alive)
            run_other_blocks(w);
        else
            take_turn(w);
    }
}

unsigned warp_converged(int line) {
    Block& block = block_state;
    const bool alone = !block.current && !promote(false);
    Worker& w = *worker;
    const unsigned linear = linear_thread(), lane = linear % lanes_per_warp, bit = 1u << lane;
    if (alone) return bit;
    Warp& warp = w.warps[linear / lanes_per_warp];
    warp.converging |= bit;
    warp.line[lane] = line;
    ++w.happened;
    const auto all_lanes_wait = [&] {
        if (warp.converging != ~warp.returned) return false;
        for (unsigned i = 0; i < lanes_per_warp; ++i)
            if (warp.converging >> i & 1 && warp.line[i] != line) return false;
        return true;
    };
    block.current->line = line;
    while (warp.converging & bit) {
        if (all_lanes_wait()) {
            const unsigned group = warp.converging;
            for (unsigned i = 0; i < lanes_per_warp; ++i)
                if (group >> i & 1) warp.result[i] = group;
            warp.converging = 0;
            break;
        }
        take_turn(w);
    }
    return static_cast<unsigned>(warp.result[lane]);
}

namespace {

uint3 block_index(const Grid& grid, uint64_t turn, uint64_t blocks) {
    const uint64_t at = grid.backward ? blocks - 1 - turn : turn, row = at / grid.blocks.x;
    return {static_cast<unsigned>(at % grid.blocks.x), static_cast<unsigned>(row % grid.blocks.y),
            static_cast<unsigned>(row / grid.blocks.y)};
}

void begin_block(Worker& w, const Grid& grid, uint3 block) {
    Block& state = block_state;
    w.block = block;
    w.early_exit_noted = false;
    w.static_shared = 0;
    w.checked_atomics = 0;
    resume_block(w);
    standstill.begin_block();
    if (grid.shared_bytes) standstill.add_shared(&dynamic_shared_memory, grid.shared_bytes);
    if (++state.epoch == 0) ++state.epoch;
    if (grid.shared_bytes) fill_poison(&dynamic_shared_memory, grid.shared_bytes);
}

/// Wake the pool's helpers if a grid has run for a long time. For a short grid, waking them and waiting until they
/// sleep again would take longer than its blocks, especially on a busy machine.
void call_helpers_if_long(const Job& job) {
    constexpr std::chrono::microseconds short_grid{100};
    if (job.next < job.blocks && std::chrono::steady_clock::now() - job.began > short_grid) call_helpers();
}

void run_blocks(Job& job, bool calls_helpers) {
    Worker& w = this_worker();
    const Grid& grid = *job.grid;
    Block& state = block_state;
    set_grid(w, &grid);
    w.job = &job;
    w.stack_begin = static_cast<const char*>(__builtin_frame_address(0));
    ++job.running;
    state.threads = thread_count(grid.threads);
    for (;;) {
        const uint64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
        if (begin >= job.blocks) break;
        const uint64_t end = std::min(begin + job.chunk, job.blocks);
        for (uint64_t i = begin; i < end; ++i) {
            if (observer && (i = observer->next_turn(i)) >= end) break;
            if (observer) observer->block_begins(i);
            begin_block(w, grid, block_index(grid, i, job.blocks));
            w.left_in_chunk = end - i - 1;
            grid.run_block(grid, w.block);
            if (observer) observer->block_ends();
        }
        note_blocks_ended(end - begin);
        if (calls_helpers) call_helpers_if_long(job);
    }
    resume_block(w);
    --job.running;
    set_grid(w, nullptr);
}

/// The state of a block of a cooperative launch while other blocks run, without the OS thread's own state.
class HeldBlock {
  public:
    /// Save the running block, whose threads all wait in switch_fiber().
    void take(Worker& w) {
        fiber_ = block_state.current;
        digest_when_left_ = w.digest_when_left;
        waits_ = w.left_to_spin ? Waits::for_memory : Waits::for_grid;
        if (observer) shadow_ = observer->block_leaves();
        copy_out(worker_, &w, sizeof w);
        copy_out(thread_locals_, reinterpret_cast<void*>(block_state.tls_begin), block_state.tls_bytes);
        stacks_.clear();
        const Fiber* fiber = fiber_;
        do {
            stacks_.push_back({lowest_used(*fiber), {}});
            copy_out(stacks_.back().bytes, stacks_.back().begin,
                     static_cast<size_t>(stack_end(w, fiber->linear) - stacks_.back().begin));
            fiber = fiber->next;
        } while (fiber != fiber_);
    }
    /// Restore the block at its old addresses. Return the thread that continues.
    Fiber* restore(Worker& w) {
        const uintptr_t thread_locals = block_state.tls_begin;
        memcpy(&w, worker_.data(), worker_.size());
        memcpy(reinterpret_cast<void*>(thread_locals), thread_locals_.data(), thread_locals_.size());
        for (const auto& [begin, bytes] : stacks_) memcpy(begin, bytes.data(), bytes.size());
        if (observer) observer->block_returns(*shadow_);
        waits_ = Waits::no_longer;
        return fiber_;
    }
    bool waits() const { return waits_ != Waits::no_longer; }
    bool spins() const { return waits_ == Waits::for_memory; }
    /// Return a digest of everything that the block's threads can read.
    uint64_t digest() const {
        uint64_t digest = digest_when_left_;
        for (const auto& [begin, bytes] : stacks_)
            digest = add_to_digest(digest, {bytes.data() + red_zone, bytes.size() - red_zone});
        return digest + waits();
    }

  private:
    enum class Waits { no_longer, for_grid, for_memory };
    struct Stack {
        char* begin;
        std::vector<char> bytes;
    };
    static constexpr size_t red_zone = 128;

    static void copy_out(std::vector<char>& to, const void* from, size_t bytes) {
        to.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    }
    static char* lowest_used(const Fiber& fiber) { return static_cast<char*>(fiber.stack) - red_zone; }
    Fiber* fiber_ = nullptr;
    Waits waits_ = Waits::no_longer;
    uint64_t digest_when_left_ = 0;
    std::unique_ptr<HeldShadow> shadow_;
    std::vector<char> worker_, thread_locals_;
    std::vector<Stack> stacks_;
};

/// Turn all threads of the block into fibers. Return the first.
Fiber* begin_as_fibers(Worker& w, const Grid& grid) {
    Block& state = block_state;
    const unsigned first = grid.backward ? state.threads - 1 : 0;
    provide_stacks(w, state.threads);
    number_fibers(w, grid);
    ready_fibers(w, first, grid.backward ? -1u : 1u, state.threads);
    prepare_fiber(w, first);
    reset_warps(w, state.threads, first, grid.backward);
    state.alive = state.threads;
    state.arrived = 0;
    w.votes = w.idle = 0;
    w.spun = w.tried = false;
    grid.enter_block(grid, w.block);
    return &w.fibers[first];
}

/// Blocks that wait for each other, in grid.sync() or for an atomic. They run alternately on this OS thread, each until
/// it must wait.
class CooperativeGrid {
  public:
    explicit CooperativeGrid(const Grid& grid)
        : grid_(grid), w_(this_worker()), held_(uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z) {}

    void run() {
        set_grid(w_, &grid_);
        w_.job = nullptr;
        block_state.threads = thread_count(grid_.threads);
        for (uint64_t i = 0; i < held_.size(); ++i) {
            begin_block(w_, grid_, block_index(grid_, i, held_.size()));
            run_until_wait(begin_as_fibers(w_, grid_), held_[i]);
        }
        const unsigned last_epoch = block_state.epoch;
        while (const uint64_t waiting = count(&HeldBlock::waits)) resume_blocks(waiting);
        block_state.epoch = last_epoch;
        block_state.current = nullptr;
        set_grid(w_, nullptr);
    }

  private:
    uint64_t count(bool (HeldBlock::*predicate)() const) const {
        return static_cast<uint64_t>(std::ranges::count_if(held_, std::mem_fn(predicate)));
    }

    /// Let each block that spins run, or all blocks if all wait in grid.sync().
    void resume_blocks(uint64_t waiting) {
        const bool any_spins = count(&HeldBlock::spins) != 0;
        if (!any_spins && waiting < held_.size()) end_with_missing_blocks(waiting);
        if (any_spins) end_if_hanging();
        for (HeldBlock& block : held_)
            if (block.spins() || !any_spins) run_until_wait(block.restore(w_), block);
    }

    void end_if_hanging() {
        if (standstill_.is_time_to_compare()) {
            uint64_t digest = 0;
            for (const HeldBlock& block : held_) digest = digest * 31 + block.digest();
            standstill_.compare_memory(digest);
        }
        if (standstill_.has_lasted()) end_hanging_grid(w_);
    }

    void run_until_wait(Fiber* fiber, HeldBlock& block) {
        w_.loop_fiber = block_state.current = &scheduler_;
        switch_to(fiber);
        if (!block_state.alive) return;
        block_state.current = w_.leaving_fiber;
        block.take(w_);
    }

    [[noreturn]] void end_with_missing_blocks(uint64_t waiting) const {
        end_with_fault(warplab::Fault::deadlock, std::to_string(waiting) + " of " + std::to_string(held_.size()) +
                                                     " blocks wait in grid.sync() at line " +
                                                     std::to_string(w_.grid_line) + ", the others have returned");
    }

    const Grid& grid_;
    Worker& w_;
    std::vector<HeldBlock> held_;
    Standstill standstill_;
    Fiber scheduler_{};
};

unsigned pool_size() {
    if (const char* requested = getenv("WARPLAB_THREADS"))
        return static_cast<unsigned>(std::clamp(atoi(requested), 1, 256));
    cpu_set_t usable;
    const bool is_known = sched_getaffinity(0, sizeof(usable), &usable) == 0;
    const unsigned cores = is_known ? static_cast<unsigned>(CPU_COUNT(&usable)) : std::thread::hardware_concurrency();
    return std::clamp(cores, 1u, 24u);  // with more, the guard pages would exceed Linux's limit of mappings
}

/// OS threads that help the caller to run blocks. A helper that wakes too late does nothing and sleeps again, so that
/// no thread has to wait for it. The pool is never destroyed, because its threads may outlive main().
class Pool {
  public:
    Pool() {
        try {
            for (const unsigned helpers_needed = pool_size() - 1; helpers_ < helpers_needed; ++helpers_)
                std::thread([this] { help(); }).detach();
        } catch (const std::system_error&) {  // no more threads are allowed: continue with fewer
        }
    }

    void run(const Grid& grid) {
        Job job;
        job.grid = &grid;
        job.blocks = uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
        job.chunk = std::clamp<uint64_t>(job.blocks / ((helpers_ + 1) * 16), 1, 64);
        job_to_open_ = observer ? nullptr : &job;
        run_blocks(job, true);
        job_to_open_ = nullptr;
        if (job_) close();
    }

    unsigned helpers() const { return helpers_; }

    /// Let the helpers take blocks of the grid. Only the first call for a grid has an effect.
    void call_helpers() {
        if (!job_to_open_) return;
        Job& job = *std::exchange(job_to_open_, nullptr);
        const uint64_t helpers_needed = std::min<uint64_t>(helpers_, job.blocks - 1);
        if (helpers_needed) open(job, static_cast<std::ptrdiff_t>(helpers_needed));
    }

  private:
    void open(Job& job, std::ptrdiff_t helpers_needed) {
        std::lock_guard lock(mutex_);
        job_ = &job;
        while (calls_.try_acquire()) {
        }
        calls_.release(helpers_needed);
    }

    void close() {
        std::unique_lock lock(mutex_);
        job_ = nullptr;
        helpers_have_left_.wait(lock, [this] { return inside_ == 0; });
    }

    void help() {
        for (;;) {
            calls_.acquire();
            Job* job;
            {
                std::lock_guard lock(mutex_);
                job = job_;
                if (!job) continue;
                ++inside_;
            }
            run_blocks(*job, false);
            std::lock_guard lock(mutex_);
            if (--inside_ == 0) helpers_have_left_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable helpers_have_left_;
    std::counting_semaphore<> calls_{0};
    Job* job_ = nullptr;          // helpers take blocks from it
    Job* job_to_open_ = nullptr;  // the running grid's job until the helpers are called
    unsigned inside_ = 0, helpers_ = 0;
};

Pool& pool() {
    static Pool& pool = *new Pool;
    return pool;
}
void call_helpers() { pool().call_helpers(); }

}  // namespace

bool runs_backward() { return thread_order == warplab::cpu::ThreadOrder::backward; }

static std::recursive_mutex& device_mutex() {
    static std::recursive_mutex& mutex = *new std::recursive_mutex;
    return mutex;
}
DeviceLock lock_device() { return DeviceLock(device_mutex()); }
DeviceLock try_to_lock_device() { return {device_mutex(), std::try_to_lock}; }

void run_grid(const Grid& grid) {
    if (grid.cooperative && grid.run_thread)
        CooperativeGrid(grid).run();
    else
        pool().run(grid);
}

static nlink_t count_threads() {
    struct stat found {};
    return stat("/proc/self/task", &found) == 0 ? found.st_nlink : 0;
}
static const nlink_t threads_at_start = count_threads();  // an emulator may have additional threads

bool has_other_host_threads() { return count_threads() > threads_at_start + pool().helpers(); }

uint64_t blocks_with_early_exits() { return early_exit_blocks.load(); }

}  // namespace warplab_cpu

namespace warplab::cpu {
void set_thread_order(ThreadOrder order) { warplab_cpu::thread_order = order; }
void show_multiprocessors(unsigned count) { warplab_cpu::multiprocessors = count; }
}  // namespace warplab::cpu
