#pragma once
// The runner's interface to the CPU backend's runtime. Student code sees only cuda_runtime.h.

#include <cstddef>
#include <cstdint>

#include "grader/io/status_page.h"

namespace warplab::cpu {

/// Register a mapping of the runner as device memory, so that cudaMemcpy can check the direction of copies.
void register_device_memory(void* begin, std::size_t bytes);
void unregister_device_memory(void* begin);

/// If the runtime ends a process, the exit status is this number plus the Fault's number.
inline constexpr int fault_status = 80;

/// Set the page that records faults and the current kernel, and install the handlers of SIGSEGV, SIGBUS, SIGFPE,
/// SIGILL, SIGABRT and SIGTRAP.
void use_status_page(StatusPage* page);

/// Turn the sanitizer on or off. The runner decides this before any code of the submission runs; in a program without a
/// runner, it is on if the program is compiled with the hooks.
void use_sanitizer(bool on);

/// Record a trace into a memory file, instead of running the sanitizer; no-op if `order.multiprocessors` is 0. Call
/// this after use_sanitizer().
void begin_trace(const trace::Order& order, int file);

/// With the sanitizer, pass each new finding to `to` immediately. The status page contains the findings too, but can be
/// overwritten later. Only the first call has an effect, so a student's code cannot replace `to`.
void send_findings_to(void (*to)(const RawFinding&));

/// Declare a device buffer to the sanitizer: a call gets [begin, begin + bytes) of the memory. `holds_data`: the buffer
/// is initialised. `is_constant`: the call must not write it. `buffer`: its index in the judge's list. A trace uses
/// only [begin, begin + bytes). No-op without the sanitizer and a trace.
void begin_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes, bool holds_data,
                  bool is_constant, std::uint32_t buffer);

/// Declare a host buffer whose memory consists of whole pages. Kernels cannot access it while device memory is hidden.
/// The sanitizer reports copies beyond its end. Call end_host_buffer() before you unmap the memory.
void begin_host_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes);
void end_host_buffer(void* memory);

/// Make a part of a device buffer (begin_buffer) a separate object for the sanitizer. Findings use its name.
void name_part(void* begin, std::size_t bytes, const char* name);

/// Mark the beginning and the end of a call of the contract for the sanitizer: the call must free the memory that it
/// allocates (the first call may keep some) and must notice launches that fail.
void begin_call();
void end_call();

/// Set the number of multiprocessors that the backend reports; the default is 16.
void show_multiprocessors(unsigned count);

/// Start the calls of the next dataset: reset the counts in the status page. `counts_requests`: also count requests to
/// memory, as the sanitizer does before the first call of this function. No-op without the sanitizer.
void begin_dataset(bool counts_requests);

/// Return the launches and bytes since the last begin_call(), and all findings and replaced handlers of the process.
Observations observed();

enum class ThreadOrder : std::uint32_t { forward = 0, backward = 1 };
/// Set the order in which the threads of a block, and the blocks of a grid, start. Correct programs do not depend on
/// it.
void set_thread_order(ThreadOrder order);

/// Hide device memory from host code or show it. While it is hidden, host code that accesses it faults, as on a GPU;
/// kernels and copies may access it. Managed memory that the host accesses after a kernel, and pinned memory that a
/// kernel writes, count as copied to the host, in pieces of 64 KB. Allocations and registered memory of more than 4 MB
/// stay visible, because hiding costs time at each launch. Initially, all memory is visible.
void hide_device_memory(bool hide);

/// Limit later device-to-host copies to `bytes`. A copy that exceeds the limit ends the process with Fault::host_limit.
void set_host_limit(std::uint64_t bytes);

struct Counters {
    std::uint64_t host_bytes;      // copied device-to-host since set_host_limit
    std::uint64_t launches;        // kernels since the process started
    std::int64_t allocated_bytes;  // device memory allocated and not freed (cudaMalloc and similar functions)
    std::uint64_t early_exits;     // blocks in which threads returned before a barrier at which others waited
};
Counters counters();

}  // namespace warplab::cpu
