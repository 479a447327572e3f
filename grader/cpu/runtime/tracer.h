#pragma once
// Records the operations of warps, for the model of their time on a GPU. It is an observer like the sanitizer, and
// watches the same hooks. Only some blocks of a grid run: those that are recorded.

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
/// Around a copy or a fill, by the name of the function.
void begin_traced_move(const char* function);
void end_traced_move(bool host_waits);
void trace_buffer(const void* begin, std::size_t bytes);

/// Begin to record into a memory file; nothing happens if the order is empty.
void begin_trace(const warplab::trace::Order& order, int file);

/// The GPU that device queries describe; 0 multiprocessors if it is the backend's own.
const warplab::trace::Order& traced_device();

}  // namespace warplab_cpu
