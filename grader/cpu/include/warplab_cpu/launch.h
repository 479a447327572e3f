#pragma once
// What the rewriter's output is made of (grader/cpu/rewriter/OUTPUT.md): launches, kernels, shared memory, symbols.

#include "scheduler.h"

#pragma GCC visibility push(default)

typedef struct CUstream_st* cudaStream_t;

namespace warplab_cpu {

/// One kernel's grid on its way through the thread pool. `closure` is the kernel's body with its parameters.
struct Grid {
    const char* kernel;
    int line;
    dim3 blocks, threads;
    size_t shared_bytes;
    const void* closure;
    size_t closure_bytes;
    void (*run_block)(const Grid&, uint3 block);          // the threads of a block as a plain loop
    void (*run_thread)(const Grid&, const Fiber& fiber);  // one thread of the block that runs
    void (*enter_block)(const Grid&, uint3 block);        // sets the built-in variables that all its threads share
    bool backward;
    bool cooperative;
    cudaStream_t stream;
};

/// <<<grid, block, shared, stream>>>: pending until the kernel called in the same full expression takes it.
class Launch {
  public:
    Launch(const char* kernel, int line, dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    const char* const kernel;
    const int line;
    const dim3 grid, block;
    const size_t shared_bytes;
    const cudaStream_t stream;
    Launch* const outer;
    bool used = false;
    bool cooperative = false;
    int error = 0;  // a cudaError_t, once it was used
};

/// Checks and runs the pending launch with this grid's body.
void run_pending(const char* kernel, Grid& grid);

// With the sanitizer, the kernel's body exists once, so that a line is one place. It also makes no calls: GCC's hooks
// do not see the write of a call's result (x[i] = f(y), with f returning a struct).
#ifdef WARPLAB_CPU_FAST
#define WARPLAB_CPU_BODY WARPLAB_CPU_INLINE
#else
#define WARPLAB_CPU_BODY __attribute__((noinline, flatten))
#endif

template <class Body>
WARPLAB_CPU_BODY void run_body(Body body) {
    body();
}

// The hooks are for the kernel's body and for enter_block(), which shows them the built-in variables.
#define WARPLAB_CPU_UNSEEN __attribute__((no_sanitize("thread")))

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
                *static_cast<volatile unsigned*>(&state.column) = x;  // a fault's handler reads it
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

struct Kernel {
    const char* name;

    template <class Body>
    void operator->*(const Body& body) const {
        Grid grid{};
        grid.closure = &body;
        grid.closure_bytes = sizeof(body);
        grid.run_block = &warplab_cpu::run_block<Body>;
        grid.run_thread = &warplab_cpu::run_thread<Body>;
        grid.enter_block = &warplab_cpu::enter_block<Body>;
        run_pending(name, grid);
    }
};

inline constexpr size_t most_static_shared_bytes = 48 * 1024;
inline constexpr size_t shared_zone = 1024;  // around a shared variable, for the sanitizer

/// A __shared__ variable of one block, poisoned when the block's first thread comes to its declaration.
template <class T>
struct Shared {
    static_assert(sizeof(T) <= most_static_shared_bytes,
                  "a __shared__ variable has at most 48 KB (49152 bytes); make it smaller, or use 'extern __shared__'");
#ifndef WARPLAB_CPU_FAST
    unsigned char before[shared_zone];  // nothing lies here: who comes here meant the variable
#endif
    alignas(128) unsigned char storage[sizeof(T)];
#ifndef WARPLAB_CPU_FAST
    unsigned char after[shared_zone];
#endif
    unsigned epoch;

    WARPLAB_CPU_INLINE T& use(const char* name, int) {
        if (__builtin_expect(load_unseen(epoch) != load_unseen(block_state.epoch), 0)) poison(name);
        return reinterpret_cast<T&>(storage);
    }

    WARPLAB_CPU_COLD WARPLAB_CPU_UNSEEN void poison(const char* name) {
        epoch = block_state.epoch;
        begin_shared(storage, sizeof(T), name);
    }
};

inline constexpr size_t most_shared_bytes = 227 * 1024;
struct alignas(128) DynamicShared {
    unsigned char bytes[most_shared_bytes];
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

}  // namespace warplab_cpu

#define WARPLAB_CPU_NAME(...) #__VA_ARGS__
#define WARPLAB_CPU_KERNEL(name) ::warplab_cpu::Kernel{name}->*[=]() mutable __attribute__((always_inline))->void
#define WARPLAB_CPU_SHARED static thread_local __attribute__((tls_model("local-exec")))
#define WARPLAB_CPU_FILE_SHARED static thread_local
#define WARPLAB_CPU_JOIN_(a, b) a##b
#define WARPLAB_CPU_JOIN(a, b) WARPLAB_CPU_JOIN_(a, b)
#define WARPLAB_CPU_SYMBOL(name, kind)                                              \
    static ::warplab_cpu::Symbol WARPLAB_CPU_JOIN(warplab_cpu_symbol_, __COUNTER__) \
        __attribute__((unused)) (&name, sizeof(name), #name, ::warplab_cpu::SymbolKind::kind)

#pragma GCC visibility pop
