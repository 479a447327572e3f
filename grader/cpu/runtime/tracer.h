#pragma once
// Records the operations of warps for the model of their time on a GPU. Like the sanitizer, the tracer is an observer
// that uses the hooks. Only blocks that are recorded, or whose steps are counted, run.

#include <cstddef>
#include <cstdint>

#include "grader/io/trace.h"

namespace warplab_cpu {

inline bool tracing = false;  // set before any code of the submission runs

enum class TracedAccess { read, write, atomic };

void trace_access(const volatile void* address, std::size_t bytes, TracedAccess access, void* caller);
void trace_basic_block(void* caller);
void trace_operation(warplab::trace::OperationKind kind, void* caller);
void trace_host_call(warplab::trace::HostCallKind kind);
/// Mark the beginning and the end of a copy or a fill by the CUDA function with this name.
void begin_traced_move(const char* function);
void end_traced_move(bool host_waits);
void trace_buffer(const void* begin, std::size_t bytes);

/// Start recording to a memory file. No-op if the order has 0 multiprocessors.
void begin_trace(const warplab::trace::Order& order, int file);

/// Return the order whose GPU device queries describe; 0 multiprocessors mean the backend's own device.
const warplab::trace::Order& traced_device();

}  // namespace warplab_cpu
