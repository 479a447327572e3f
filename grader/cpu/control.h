#pragma once
// What the runner tells the CPU backend's runtime. Student code sees cuda_runtime.h alone.

#include <cstddef>
#include <cstdint>

#include "grader/io/status_page.h"

namespace warplab::cpu {

/// Memory mapped by the runner that counts as device memory (copies check their direction against this).
void register_device_memory(void* begin, std::size_t bytes);
void unregister_device_memory(void* begin);

/// A process that the runtime ends leaves with this status plus the number of its Fault.
inline constexpr int fault_status = 80;

/// Where faults and the current kernel are recorded; also installs the handlers for SIGSEGV, SIGBUS, SIGFPE, SIGABRT.
void use_status_page(StatusPage* page);

/// Turn the sanitizer on or off. The runner decides this before any code of the submission runs; in a program without a
/// runner, it is on if the program is compiled with the hooks.
void use_sanitizer(bool on);

/// Check mode: `to` gets each new finding as it happens. The status page has them too, but can be written later. The
/// first to call this stays: a student's code cannot take its place.
void tell_findings(void (*to)(const Finding&));

/// In check mode: which bytes of that memory a call was given, whether they hold something, and as which of the
/// judge's buffers. Without check mode nothing happens.
void begin_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes, bool holds_data,
                  bool is_constant, std::uint32_t buffer);

/// The same for memory of the host's, whose end copies are held to. It ends before it is unmapped.
void begin_host_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes);
void end_host_buffer(void* memory);

/// In check mode: a piece of such a buffer is a thing of its own, by a name that findings call it.
void name_part(void* begin, std::size_t bytes, const char* name);

/// In check mode, around each call of the contract: what is allocated in between is to be freed in between (the first
/// call may keep some), and a launch that fails is to be noticed.
void begin_call();
void end_call();

/// Start the calls of the next dataset: reset the counts in the status page.
void begin_dataset();

/// Return the observations since the last begin_call().
Observed observed();

enum class ThreadOrder : std::uint32_t { forward = 0, backward = 1 };
/// The order in which threads of a block (and blocks of a grid) get their first turn. A right program does not care.
void set_thread_order(ThreadOrder order);

/// While hidden, host code that touches device memory faults, as on a GPU; kernels and copies may. Managed memory that
/// the host touches after a kernel, and pinned memory that a kernel writes, count as copied to the host, in pieces of
/// 64 KB. Allocations and registered memory of more than 4 MB stay visible: hiding costs time at every launch. Off at
/// the start.
void hide_device_memory(bool hide);

/// A device-to-host copy beyond `bytes` since the last call of this ends the process with Fault::host_limit.
void set_host_limit(std::uint64_t bytes);

struct Counters {
    std::uint64_t host_bytes;      // copied device-to-host since set_host_limit
    std::uint64_t launches;        // kernels since the process started
    std::int64_t allocated_bytes;  // device memory allocated and not freed (cudaMalloc and similar functions)
    std::uint64_t early_exits;     // blocks in which threads returned before a barrier others waited at
};
Counters counters();

}  // namespace warplab::cpu
