#pragma once
// Runs a grid: its blocks run on a pool of OS threads, and the threads of a block as a loop or as fibers.

#include <cstdint>
#include <mutex>

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/launch.h"

/// Whether this OS thread runs a grid; the stubs of host_functions.cpp read it.
extern "C" WARPLAB_CPU_THREAD_LOCAL bool warplab_in_kernel __attribute__((tls_model("local-exec")));

namespace warplab_cpu {

/// Return whether blocks and threads run from the last to the first.
bool runs_backward();

/// A lock on the device, held during each launch, copy and allocation, so that only one host thread uses the device.
using DeviceLock = std::unique_lock<std::recursive_mutex>;
DeviceLock lock_device();
DeviceLock try_to_lock_device();

/// Run every block. Return when all are done. The caller holds the device lock.
void run_grid(const Grid& grid);
/// Return whether cudaFuncSetAttribute allows the kernel more shared memory than __shared__ variables may have.
bool may_exceed_static_limit(const Grid& grid);

/// Let the block's other threads run. Call this only in a hook.
void let_others_run();

/// Return whether the process has threads other than the caller and the helpers that run blocks.
bool has_other_host_threads();

/// The memory that the scheduler uses on the sanitizer's OS thread: the stacks of the block's threads, and its own
/// state.
struct SchedulerMemory {
    std::uintptr_t stacks = 0, stack_bytes = 0, state = 0, state_bytes = 0;
    bool has(std::uintptr_t address) const { return address - stacks < stack_bytes || address - state < state_bytes; }
};
extern SchedulerMemory scheduler_memory;

const warplab::StatusPage& status_page();

/// Return a digest of the different launches since the last forget_launches().
std::uint64_t launch_digest();
void forget_launches();

}  // namespace warplab_cpu
