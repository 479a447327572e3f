#pragma once
// The interface of the sanitizer and the tracer, which receive the runtime's events about memory and grids. Each
// ignores the events that it does not need.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "grader/cpu/include/warplab_cpu/launch.h"
#include "grader/io/status_page.h"

namespace warplab_cpu {

/// An observer's records of a block while other blocks of a cooperative launch run.
struct HeldShadow {
    virtual ~HeldShadow() = default;
};

/// The call that created a stream or an event, the function that would destroy it, and the call's line.
struct CreatedBy {
    const char *call, *destroyed_by;
    int line;
};

class Observer {
  public:
    virtual ~Observer() = default;
    /// The CUDA function by which a program allocated memory, and the line of the call in the student's file.
    struct AllocatedBy {
        const char* call;
        bool host_writes;  // the host may use the memory, too
        int line;
    };
    /// cudaMalloc or a similar function allocated memory. `mapping` encloses it, with inaccessible pages at both ends.
    virtual void memory_begins(void* begin, std::size_t bytes, void* mapping, std::size_t mapping_bytes,
                               const AllocatedBy& by) = 0;
    /// Each `pitch` bytes of the memory are a row of `width` bytes and padding.
    virtual void memory_has_rows(void*, std::size_t /*width*/, std::size_t /*pitch*/) {}
    virtual void memory_ends(void* begin) = 0;
    /// Part of an allocation is handed out again: earlier accesses to this part are forgotten.
    virtual void memory_renewed(void*, std::size_t) {}
    /// A copy or a fill wrote the memory. Return false if the memory belongs to a constant input of the lab.
    virtual bool memory_written(void*, std::size_t) { return true; }
    virtual void memory_read(const void*, std::size_t) {}
    /// Return whether the source of a copy on the device has never been written, but the destination has.
    virtual bool is_exchanged(const void* /*to*/, const void* /*from*/, std::size_t) { return false; }
    virtual void handle_begins(const void* /*stream_or_event*/, const CreatedBy&) {}
    virtual void handle_ends(const void* /*stream_or_event*/) {}
    virtual void shared_begins(void* begin, const SharedDeclaration& variable) = 0;
    /// Return the number of bytes from the address to the end of the lab's buffer that contains it, on the device or
    /// the host; the maximum of std::size_t if no buffer contains it.
    virtual std::size_t bytes_left(const void*) { return std::numeric_limits<std::size_t>::max(); }
    /// Return the same for the elements of a std::vector, up to its size.
    virtual std::size_t vector_bytes_left(const void*) { return std::numeric_limits<std::size_t>::max(); }
    virtual void grid_begins(const Grid& grid) = 0;
    virtual void grid_ends() = 0;
    /// Return this turn or the next one whose block must run. Turn 0 has the first block in the grid's order.
    virtual std::uint64_t next_turn(std::uint64_t turn) { return turn; }
    virtual void block_begins(std::uint64_t /*turn*/) {}
    virtual void block_ends() {}
    /// The running block pauses so that other blocks can run in the same memory. It continues after them.
    virtual std::unique_ptr<HeldShadow> block_leaves() { return std::make_unique<HeldShadow>(); }
    virtual void block_returns(HeldShadow&) {}
    /// All threads of the running block wait at a barrier of the grid.
    virtual void block_reaches_grid_barrier() {}
    /// Threads of the block returned before a barrier at which others wait.
    virtual void early_exit() {}
    /// These lanes of the running thread's warp have completed a __syncwarp().
    virtual void lanes_synchronised(unsigned /*lanes*/) {}
    /// Report a defect that does not depend on any other event.
    virtual void defect_found(warplab::FindingKind, int /*line*/, const char* /*function*/,
                              const std::string& /*reason*/) {}
    /// A function refused to free a pointer. `reason` may be empty if nothing is known about the pointer; `caller` is a
    /// return address in the student's code.
    virtual void freed_wrongly(const void*, const char* /*function*/, const std::string& /*reason*/, void* /*caller*/) {
    }
    /// A launch failed. This is a defect unless the program queries the error.
    virtual void launch_failed(int /*line*/, const char* /*kernel*/, warplab::LaunchLimit /*limit*/,
                               const std::string& /*reason*/) {}
    virtual void error_queried() {}
    /// A call of the contract begins or ends. The call must free the memory that it allocates, but the first call may
    /// keep memory that later calls use.
    virtual void call_begins() {}
    virtual void call_ends() {}
    virtual void device_reset() {}
    /// All earlier accesses of the running thread happen before those of a thread of its block that then acquires the
    /// same key.
    virtual void releases(const void* /*key*/) {}
    virtual void acquires(const void* /*key*/) {}
    /// The memory no longer belongs to the device.
    virtual void memory_unmapped(void* begin, std::size_t bytes) = 0;
};

extern Observer* observer;  // null unless the sanitizer or the tracer is on

}  // namespace warplab_cpu
