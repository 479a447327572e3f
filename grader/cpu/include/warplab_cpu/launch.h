#pragma once
// The definitions for the rewriter's output (grader/cpu/rewriter/OUTPUT.md): launches, kernels, shared memory, symbols.

#include <string.h>

#include <type_traits>

#include "scheduler.h"

#pragma GCC visibility push(default)

typedef struct CUstream_st* cudaStream_t;

namespace warplab_cpu {

/// A kernel's grid for the thread pool. `closure` is the kernel's body with its parameters.
struct Grid {
    const char* kernel;
    int line;
    dim3 blocks, threads;
    size_t shared_bytes;
    const void* closure;
    size_t closure_bytes;
    void (*run_block)(const Grid&, uint3 block);          // the threads of a block as a plain loop
    void (*run_thread)(const Grid&, const Fiber& fiber);  // one thread of the running block; null if split
    void (*enter_block)(const Grid&, uint3 block);        // sets the built-in variables of all the block's threads
    bool backward;
    bool cooperative;
    cudaStream_t stream;
    unsigned max_threads;  // the maximum per block
};

inline constexpr unsigned max_threads = 1024;
/// Return the maximum number of threads of a block for these arguments of __launch_bounds__.
constexpr unsigned launch_bounds(long long threads, long long = 0, long long = 0) {
    return threads > 0 && threads < max_threads ? unsigned(threads) : max_threads;
}

/// The configuration of a launch, <<<grid, block, shared, stream>>>. It is pending until the kernel that is called in
/// the same full expression uses it.
class Launch {
  public:
    Launch(const char* kernel, int line, dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    /// Set the kernel's name in a launch whose configuration comes from a macro.
    Launch& named(const char* name) {
        kernel = name;
        return *this;
    }

    const char* kernel;
    const int line;
    const dim3 grid, block;
    const size_t shared_bytes;
    const cudaStream_t stream;
    Launch* const outer;
    bool used = false;
    bool cooperative = false;
    int error = 0;  // the launch's cudaError_t, once `used` is set
};

/// Check the pending launch and run it with this grid's body.
void run_pending(const char* kernel, Grid& grid);

// With the sanitizer, the kernel's body exists only once, so that each line is a single place in the code. The body
// also makes no calls, because GCC's hooks do not see the write of a call's result (x[i] = f(y), where f returns a
// struct).
#ifdef WARPLAB_CPU_FAST
#define WARPLAB_CPU_BODY WARPLAB_CPU_INLINE
#else
#define WARPLAB_CPU_BODY __attribute__((noinline, flatten))
#endif

template <class Body>
WARPLAB_CPU_BODY void run_body(Body body) {
    body();
}

// The hooks cover only the kernel's body and enter_block(), which shows them the built-in variables.
#if __has_attribute(no_sanitize_coverage)
#define WARPLAB_CPU_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#else
#define WARPLAB_CPU_UNSEEN __attribute__((no_sanitize("thread")))
#endif

template <class Body>
WARPLAB_CPU_UNSEEN void run_thread(const Grid& grid, const Fiber& fiber) {
    threadIdx = fiber.thread;
    run_body(*static_cast<const Body*>(grid.closure));
}

template <class Body>
void enter_block(const Grid& grid, uint3 block) {
    note_built_ins(true);
    blockIdx = block;
    blockDim = grid.threads;
    gridDim = grid.blocks;
#ifdef WARPLAB_CPU_HOOKED
    threadIdx = thread_index_mark;
    find_thread_index();
#endif
    threadIdx = {};
#ifdef WARPLAB_CPU_FAST
    shared_begin = block_state.tls_begin;
    shared_bytes = block_state.tls_bytes;
#endif
    note_built_ins(false);
}

template <class Body>
WARPLAB_CPU_UNSEEN void run_block(const Grid& grid, uint3 block) {
    const Body body = *static_cast<const Body*>(grid.closure);
    Block& state = block_state;
    enter_block<Body>(grid, block);
    const dim3 threads = grid.threads;
    const unsigned step = grid.backward ? -1u : 1u;
    const uint3 first = grid.backward ? uint3{threads.x - 1, threads.y - 1, threads.z - 1} : uint3{0, 0, 0};
    const uint3 end = grid.backward ? uint3{-1u, -1u, -1u} : uint3{threads.x, threads.y, threads.z};
    for (unsigned z = first.z; z != end.z; z += step) {
        for (unsigned y = first.y; y != end.y; y += step) {
            state.row = (z * threads.y + y) * threads.x;
            for (unsigned x = first.x; x != end.x; x += step) {
                *static_cast<volatile unsigned*>(&state.column) = x;  // read by the handler of a fault
                threadIdx = {x, y, z};
                run_body(body);
                if (__builtin_expect(state.current != nullptr, 0)) {
                    finish_fibers();
                    return;
                }
            }
        }
    }
}

/// A kernel that the rewriter split at its barriers: its body runs once for the block.
template <class Body>
void run_split_block(const Grid& grid, uint3 block) {
    Body body = *static_cast<const Body*>(grid.closure);
    enter_block<Body>(grid, block);
    block_state.row = block_state.column = 0;
    body(grid.backward);
}

/// Runs one part of a split kernel for all threads. `Index` is the type that counts them; it determines how well the
/// compiler vectorises the loop. If `shown` is true, the loop sets the variable threadIdx for the functions that the
/// part calls.
template <class Index, bool shown>
struct Threads {
    bool backward;

    template <class Part>
    WARPLAB_CPU_INLINE void operator->*(const Part& part) const {
        const dim3 threads = blockDim;
        if (threads.x > 1024 || threads.y > 1024 || threads.z > 64) __builtin_unreachable();
        const Index x_end = threads.x, y_end = threads.y, z_end = threads.z;
        if (backward) {
            for (Index z = z_end; z-- > 0;)
                for (Index y = y_end; y-- > 0;)
                    for (Index x = x_end; x-- > 0;) run(part, x, y, z, threads);
        } else {
            for (Index z = 0; z < z_end; ++z)
                for (Index y = 0; y < y_end; ++y)
                    for (Index x = 0; x < x_end; ++x) run(part, x, y, z, threads);
        }
    }

    template <class Part>
    WARPLAB_CPU_INLINE static void run(const Part& part, unsigned x, unsigned y, unsigned z, const dim3& threads) {
        if (shown) threadIdx = {x, y, z};
        part(uint3{x, y, z}, (z * threads.y + y) * threads.x + x);
    }
};

/// A per-thread variable that several parts of a split kernel use.
template <class T>
struct KeptVariable {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256,
                  "not supported in split kernels: compile without --split");
    std::remove_cv_t<T> of[1024];  // by thread
    WARPLAB_CPU_INLINE KeptVariable() { __asm__("" : "=m"(of)); }  // avoids the compiler's warnings about unset values
    WARPLAB_CPU_INLINE void keep(unsigned thread, const T& value) { memcpy(&of[thread], &value, sizeof(T)); }
};

template <class Body>
Grid make_grid(const Body& body, unsigned max_threads) {
    Grid grid{};
    grid.closure = &body;
    grid.closure_bytes = sizeof(body);
    grid.max_threads = max_threads;
    return grid;
}

struct SplitKernel {
    const char* name;
    unsigned max_threads = warplab_cpu::max_threads;

    template <class Body>
    void operator->*(const Body& body) const {
        Grid grid = make_grid(body, max_threads);
        grid.run_block = &warplab_cpu::run_split_block<Body>;
        run_pending(name, grid);
    }
};

struct Kernel {
    const char* name;
    unsigned max_threads = warplab_cpu::max_threads;

    template <class Body>
    void operator->*(const Body& body) const {
        Grid grid = make_grid(body, max_threads);
        grid.run_block = &warplab_cpu::run_block<Body>;
        grid.run_thread = &warplab_cpu::run_thread<Body>;
        grid.enter_block = &warplab_cpu::enter_block<Body>;
        run_pending(name, grid);
    }
};

inline constexpr size_t max_static_shared_bytes = 48 * 1024;
inline constexpr size_t shared_zone = 1024;  // around a shared variable, for the sanitizer

/// A __shared__ variable of one block. It is poisoned when the block's first thread reaches its declaration. `Aligned`
/// is a class with the alignment that the declaration requires.
template <class T, class Aligned = char>
struct Shared {
    static_assert(sizeof(T) <= max_static_shared_bytes,
                  "a __shared__ variable has at most 48 KB (49152 bytes); make it smaller, or use 'extern __shared__'");
#ifndef WARPLAB_CPU_FAST
    unsigned char before[shared_zone];  // guard zone: an access here was meant for the variable
#endif
    alignas(128) unsigned char storage[sizeof(T)];
#ifndef WARPLAB_CPU_FAST
    unsigned char after[shared_zone];
#endif
    unsigned epoch;

    WARPLAB_CPU_INLINE T& use(const char* name, int line) {
        if (__builtin_expect(load_unobserved(epoch) != load_unobserved(block_state.epoch), 0)) poison(name, line);
        void* place = storage;
#ifdef WARPLAB_CPU_HOOKED
        __asm__("" : "+r"(place));  // from here on, GCC knows only the alignment of T, like nvcc
#endif
        return *static_cast<T*>(place);
    }

    WARPLAB_CPU_COLD WARPLAB_CPU_UNSEEN void poison(const char* name, int line) {
        epoch = block_state.epoch;
        constexpr size_t alignment = alignof(T) > alignof(Aligned) ? alignof(T) : alignof(Aligned);
        begin_shared(storage, {name, line, sizeof(T), alignment});
    }
};

inline constexpr size_t max_shared_bytes = 227 * 1024;
struct alignas(128) DynamicShared {
    unsigned char bytes[max_shared_bytes];
};
extern WARPLAB_CPU_THREAD_LOCAL DynamicShared dynamic_shared_memory __attribute__((tls_model("local-exec")));

template <class T>
WARPLAB_CPU_INLINE T& dynamic_shared(const char*, int) {
    return reinterpret_cast<T&>(dynamic_shared_memory);
}

enum class SymbolKind { device, constant, managed };
struct Symbol {
    Symbol(const volatile void* address, size_t bytes, const char* name, SymbolKind kind);
};
/// Registers a function's static variable before main. A static object in the function would be constructed too late,
/// while the kernel runs.
template <auto* variable, class Named>
struct StaticSymbol {
    static const Symbol symbol;
};
template <auto* variable, class Named>
const Symbol StaticSymbol<variable, Named>::symbol(variable, sizeof *variable, Named::name(), Named::kind());

/// Records that the file has device variables without a Symbol.
struct UnlistedSymbols {
    UnlistedSymbols();
};

}  // namespace warplab_cpu

#define WARPLAB_CPU_NAME(...) #__VA_ARGS__
#define WARPLAB_CPU_KERNEL(...) ::warplab_cpu::Kernel{__VA_ARGS__}->*[=]() mutable __attribute__((always_inline))->void
#define WARPLAB_CPU_SPLIT_KERNEL(...)                                                                       \
    ::warplab_cpu::SplitKernel{__VA_ARGS__}                                                                 \
            ->*[=]([[maybe_unused]] const bool warplab_cpu_backward) mutable __attribute__((always_inline)) \
            ->void
#define WARPLAB_CPU_SPLIT() static_cast<void>(0)
#define WARPLAB_CPU_THREADS(index, shown)                                                                      \
    ::warplab_cpu::Threads<index, shown>{warplab_cpu_backward}                                                 \
            ->*[&]([[maybe_unused]] const uint3 threadIdx, [[maybe_unused]] const unsigned warplab_cpu_thread) \
                   __attribute__((always_inline))                                                              \
            ->void
#define WARPLAB_CPU_KEPT(type, name) \
    __attribute__((uninitialized)) ::warplab_cpu::KeptVariable<type> warplab_cpu_kept_##name
#define WARPLAB_CPU_STEPS 16  // steps of a grid-stride loop that a thread runs before the next thread's turn
#define WARPLAB_CPU_TAKE(name) warplab_cpu_kept_##name.of[warplab_cpu_thread]
#define WARPLAB_CPU_KEEP(name) warplab_cpu_kept_##name.keep(warplab_cpu_thread, name)
#define WARPLAB_CPU_SHARED static thread_local __attribute__((tls_model("local-exec")))
#define WARPLAB_CPU_FILE_SHARED static thread_local
#define WARPLAB_CPU_JOIN_(a, b) a##b
#define WARPLAB_CPU_JOIN(a, b) WARPLAB_CPU_JOIN_(a, b)
#define WARPLAB_CPU_SYMBOL(name, kind)                                              \
    static ::warplab_cpu::Symbol WARPLAB_CPU_JOIN(warplab_cpu_symbol_, __COUNTER__) \
        __attribute__((unused)) (&name, sizeof(name), &#name[*#name == ':' ? 2 : 0], ::warplab_cpu::SymbolKind::kind)
#define WARPLAB_CPU_STATIC_SYMBOL(name, kind) WARPLAB_CPU_STATIC_SYMBOL_(name, kind, __COUNTER__)
#define WARPLAB_CPU_STATIC_SYMBOL_(variable, symbol_kind, number)                       \
    struct WARPLAB_CPU_JOIN(warplab_cpu_static_, number) {                              \
        static constexpr const char* name() { return #variable; }                       \
        static constexpr auto kind() { return ::warplab_cpu::SymbolKind::symbol_kind; } \
    };                                                                                  \
    static_cast<void>(&::warplab_cpu::StaticSymbol<&variable, WARPLAB_CPU_JOIN(warplab_cpu_static_, number)>::symbol)
#define WARPLAB_CPU_UNLISTED_SYMBOLS \
    static ::warplab_cpu::UnlistedSymbols warplab_cpu_unlisted_symbols __attribute__((unused))

#pragma GCC visibility pop
