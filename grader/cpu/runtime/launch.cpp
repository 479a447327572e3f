// Prepares a launch for the scheduler: checks its configuration and returns CUDA's errors.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/capture.h"
#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"
#include "grader/cpu/runtime/timeline.h"

namespace warplab_cpu {
namespace {

using RunBlock = void (*)(const Grid&, uint3);

constexpr int default_shared_bytes = max_static_shared_bytes, reserved_shared_bytes = 1024;
constexpr int registers_per_multiprocessor = 65536, threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
constexpr int assumed_registers = 32;

thread_local Launch* pending = nullptr;
thread_local Action* action_request = nullptr;  // if not null, run_pending stores the grid's work here
std::atomic<uint64_t> launches{0};

std::mutex mutex;
std::map<RunBlock, int>& shared_opt_in = *new std::map<RunBlock, int>;

struct Identity {
    RunBlock run_block = nullptr;
    unsigned max_threads = 0;
};
thread_local Identity* identity_request = nullptr;  // if not null, run_pending only stores the kernel's identity here

/// Return the kernel to which a pointer to a __global__ function refers. The function's body only reports the kernel,
/// so its arguments can have any value, but there must be memory for its parameters.
__attribute__((noinline)) Identity identify(const void* kernel) {
    if (!kernel) return {};
    static char nothing[4096];
    [[maybe_unused]] volatile char room_for_parameters[8192];
    room_for_parameters[0] = 0;
    Identity identity;
    identity_request = &identity;
    using AnyKernel = void (*)(void*, void*, void*, void*, void*, void*, void*, void*);
    reinterpret_cast<AnyKernel>(const_cast<void*>(kernel))(nothing, nothing, nothing, nothing, nothing, nothing,
                                                           nothing, nothing);
    room_for_parameters[1] = 0;
    identity_request = nullptr;
    return identity;
}

int allowed_shared_bytes(RunBlock kernel) {
    std::lock_guard lock(mutex);
    const auto iterator = shared_opt_in.find(kernel);
    return iterator == shared_opt_in.end() ? default_shared_bytes : iterator->second;
}

int blocks_per_multiprocessor_of(int block_threads, size_t shared_bytes) {
    const int warps = (block_threads + 31) / 32;
    const int by_threads = threads_per_multiprocessor / (warps * 32);
    const int by_registers = registers_per_multiprocessor / (warps * 32 * assumed_registers);
    const int by_shared =
        static_cast<int>((max_shared_bytes + reserved_shared_bytes) / (shared_bytes + reserved_shared_bytes));
    return std::min(std::min(by_threads, by_registers), std::min(by_shared, blocks_per_multiprocessor));
}

/// Return the number of blocks that run at the same time, which is the maximum for a cooperative launch.
uint64_t max_blocks_at_once(int block_threads, size_t shared_bytes) {
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    return static_cast<uint64_t>(multiprocessors) * blocks_per_multiprocessor_of(block_threads, shared_bytes);
}

/// The reason for refusing a launch. In the message, the words follow "k<<<…>>>".
struct Refusal {
    cudaError_t error = cudaSuccess;  // success: the launch is allowed
    warplab::LaunchLimit limit = warplab::LaunchLimit::none;
    std::string words = {};
};

std::string describe_excess(uint64_t number, const char* of_what, uint64_t limit, const char* words = "are allowed") {
    return " (" + std::to_string(number) + " " + of_what + "; at most " + std::to_string(limit) + " " + words + ")";
}

Refusal check(const Launch& launch, const Grid& grid) {
    using enum warplab::LaunchLimit;
    const dim3 &b = launch.block, &g = launch.grid;
    const uint64_t block_threads = uint64_t{b.x} * b.y * b.z, all_blocks = uint64_t{g.x} * g.y * g.z;
    if (!block_threads) return {cudaErrorInvalidConfiguration, empty, " (blocks of 0 threads)"};
    if (!all_blocks) return {cudaErrorInvalidConfiguration, empty, " (0 blocks)"};
    if (block_threads > max_threads)
        return {cudaErrorInvalidConfiguration, threads,
                describe_excess(block_threads, "threads in a block", max_threads)};
    if (b.z > 64) return {cudaErrorInvalidConfiguration, threads_in_z, describe_excess(b.z, "threads in z", 64)};
    if (g.x > 0x7fffffffu)
        return {cudaErrorInvalidConfiguration, blocks, describe_excess(g.x, "blocks in x", 0x7fffffffu)};
    if (g.y > 65535) return {cudaErrorInvalidConfiguration, blocks, describe_excess(g.y, "blocks in y", 65535)};
    if (g.z > 65535) return {cudaErrorInvalidConfiguration, blocks, describe_excess(g.z, "blocks in z", 65535)};
    if (block_threads > grid.max_threads)
        return {
            cudaErrorLaunchOutOfResources, launch_bounds,
            describe_excess(block_threads, "threads in a block", grid.max_threads, "are allowed by __launch_bounds__")};
    const size_t allowed = static_cast<size_t>(allowed_shared_bytes(grid.run_block));
    if (launch.shared_bytes > max_shared_bytes)
        return {cudaErrorInvalidValue, max_shared,
                describe_excess(launch.shared_bytes, "bytes of shared memory", max_shared_bytes)};
    if (launch.shared_bytes > allowed)
        return {cudaErrorInvalidValue, shared, describe_excess(launch.shared_bytes, "bytes of shared memory", allowed)};
    const uint64_t at_once = max_blocks_at_once(static_cast<int>(block_threads), launch.shared_bytes);
    if (launch.cooperative && all_blocks > at_once)
        return {cudaErrorCooperativeLaunchTooLarge, blocks_at_once,
                describe_excess(all_blocks, "blocks", at_once, "run at once")};
    return {};
}

std::string describe(const dim3& extent) {
    return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " + std::to_string(extent.z) + ")";
}

/// Return the kernel's name as written in the launch, unless the launch uses a pointer or a macro.
const char* name_of(const Launch& launch, const char* kernel) {
    return std::strstr(launch.kernel, kernel) ? launch.kernel : kernel;
}

std::set<uint64_t>& different_launches() {  // the different launches of the current call
    static auto& all = *new std::set<uint64_t>;
    return all;
}

void add_to_digest(const Grid& grid) {
    constexpr uint64_t offset = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
    uint64_t hash = offset;
    const auto add = [&](uint64_t value) { hash = (hash ^ value) * prime; };
    for (const char* letter = grid.kernel; *letter; ++letter) add(static_cast<unsigned char>(*letter));
    for (const dim3& extent : {grid.blocks, grid.threads})
        for (const unsigned size : {extent.x, extent.y, extent.z}) add(size);
    add(grid.shared_bytes);
    std::lock_guard lock(mutex);
    different_launches().insert(hash);
}

/// Run a grid whose configuration has been checked.
void run_in_stream(Grid& grid, cudaStream_t stream) {
    grid.backward = runs_backward();
    ++launches;
    note_launch(grid);
    add_to_digest(grid);
    restore_handlers();
    show_to_kernels();
    if (observer) {
        timeline.begin_work(stream, grid.line, grid.kernel);
        observer->grid_begins(grid);
    }
    run_grid(grid);
    if (observer) {
        observer->grid_ends();
        timeline.end_work(false);
    }
    note_return();
    hide_from_host();
}

/// Return an action that runs the grid with a copy of its kernel's parameters, byte by byte as in CUDA.
Action action_of(const Grid& grid) {
    struct alignas(64) Piece {
        unsigned char bytes[64];
    };
    std::vector<Piece> closure((grid.closure_bytes + sizeof(Piece) - 1) / sizeof(Piece));
    std::memcpy(closure.data(), grid.closure, grid.closure_bytes);
    return [grid, closure = std::move(closure)](cudaStream_t stream) {
        Grid copy = grid;
        copy.closure = closure.data();
        run_in_stream(copy, stream);
        return cudaSuccess;
    };
}

}  // namespace

Launch::Launch(const char* kernel_, int line_, dim3 grid_, dim3 block_, size_t shared_bytes_, cudaStream_t stream_)
    : kernel(kernel_),
      line(line_),
      grid(grid_),
      block(block_),
      shared_bytes(shared_bytes_),
      stream(stream_),
      outer(pending) {
    if (in_kernel())
        end_with_fault(warplab::Fault::refused, "line " + std::to_string(line) + ": kernel " + kernel +
                                                    " is launched from a kernel, which this backend cannot do");
    pending = this;
}

Launch::~Launch() {
    pending = outer;
    if (used) return;
    end_with_fault(warplab::Fault::refused, "line " + std::to_string(line) + ": " + kernel +
                                                " is launched with <<< >>>, but is not a __global__ function");
}

bool may_exceed_static_limit(const Grid& grid) { return allowed_shared_bytes(grid.run_block) > default_shared_bytes; }

void run_pending(const char* kernel, Grid& grid) {
    if (identity_request) {
        *identity_request = {grid.run_block, grid.max_threads};
        return;
    }
    if (!pending || pending->used)
        end_with_fault(warplab::Fault::refused,
                       std::string("kernel ") + kernel + " was called without <<<grid, block>>>");
    Launch& launch = *pending;
    launch.used = true;
    const DeviceLock lock = lock_device();
    if (const Refusal refusal = check(launch, grid); refusal.error != cudaSuccess) {
        const std::string shape = "<<<" + describe(launch.grid) + ", " + describe(launch.block) + ", " +
                                  std::to_string(launch.shared_bytes) + ">>>";
        const std::string words = shape + refusal.words;
        note_detail("line " + std::to_string(launch.line) + ": " + name_of(launch, kernel) + words, refusal.limit);
        if (observer) observer->launch_failed(launch.line, name_of(launch, kernel), refusal.limit, words);
        launch.error = set_error(refusal.error);
        return;
    }
    grid.cooperative = launch.cooperative;
    grid.kernel = name_of(launch, kernel);
    grid.line = launch.line;
    grid.blocks = {launch.grid.x, launch.grid.y, launch.grid.z};
    grid.threads = {launch.block.x, launch.block.y, launch.block.z};
    grid.shared_bytes = launch.shared_bytes;
    if (action_request) return void(*action_request = action_of(grid));
    if (running_captures) {
        const auto id = reinterpret_cast<const void*>(grid.run_block);
        const auto result = capture_work(launch.stream, cudaGraphNodeTypeKernel, action_of(grid), id);
        if (result) return void(launch.error = *result);
    }
    pending = launch.outer;  // host functions that a kernel calls do not see the launch
    run_in_stream(grid, launch.stream);
    pending = &launch;
}

cudaError_t launch(KernelPointer kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                   cudaStream_t stream, bool cooperative, int line) {
    if (!kernel) return set_error(cudaErrorInvalidDeviceFunction);
    Launch pending("", line, grid, block, shared_bytes, stream);
    pending.cooperative = cooperative;
    kernel(arguments);
    return static_cast<cudaError_t>(pending.error);
}

Action kernel_action(const cudaKernelNodeParams& params, int line, cudaError_t& error) {
    Action action;
    action_request = &action;
    error = launch(params.func, params.gridDim, params.blockDim, params.kernelParams, params.sharedMemBytes, nullptr,
                   false, line);
    action_request = nullptr;
    return action;
}

const void* identity_of(const void* kernel) { return reinterpret_cast<const void*>(identify(kernel).run_block); }

cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    const RunBlock id = identify(kernel).run_block;
    if (!id) return set_error(cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value < -1 || value > 100 ? set_error(cudaErrorInvalidValue) : cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        value > static_cast<int>(max_shared_bytes))
        return set_error(cudaErrorInvalidValue);
    std::lock_guard lock(mutex);
    shared_opt_in[id] = value;
    return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel) {
    const auto [id, threads] = identify(kernel);
    if (!id) return set_error(cudaErrorInvalidDeviceFunction);
    if (!attributes) return set_error(cudaErrorInvalidValue);
    *attributes = {};
    attributes->maxThreadsPerBlock = static_cast<int>(threads);
    attributes->numRegs = assumed_registers;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = allowed_shared_bytes(id);
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}

cudaError_t get_occupancy(int* blocks, const void* kernel, int block_threads, size_t shared_bytes) {
    if (!kernel) return set_error(cudaErrorInvalidDeviceFunction);
    if (!blocks || block_threads <= 0) return set_error(cudaErrorInvalidValue);
    *blocks = 0;
    const int max_threads = static_cast<int>(identify(kernel).max_threads);
    if (block_threads > max_threads || shared_bytes > max_shared_bytes) return cudaSuccess;
    *blocks = blocks_per_multiprocessor_of(block_threads, shared_bytes);
    return cudaSuccess;
}

void forget_launches() {
    std::lock_guard lock(mutex);
    different_launches().clear();
}

uint64_t launch_digest() {
    std::lock_guard lock(mutex);
    return std::accumulate(different_launches().begin(), different_launches().end(), uint64_t{0});
}

uint64_t launch_count() { return launches; }
uint64_t blocks_with_early_exits();

}  // namespace warplab_cpu

namespace warplab::cpu {

Counters counters() {
    using namespace warplab_cpu;
    return {host_bytes(), launch_count(), allocated_bytes(), blocks_with_early_exits()};
}

}  // namespace warplab::cpu
