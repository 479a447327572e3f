#pragma once
// Estimates the cost of a kernel's accesses on a GPU, per place in the code. The lanes of a warp that access memory
// together make one request. The hardware serves it in sectors of 32 bytes (device memory) or in passes over the banks
// (shared memory).

#include <cstddef>
#include <cstdint>

#include "grader/cpu/include/warplab_cpu/launch.h"
#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/io/status_page.h"

namespace warplab_cpu {

extern bool counts_requests;  // whether requests are counted for this dataset; accesses always are
extern std::uint32_t first_logged_block, logged_blocks;  // the first logged block of the running grid, and their number

struct LoggedAccess {
    std::uintptr_t address;  // for shared memory: the offset in the block's shared memory
    std::uint32_t place;
    std::uint8_t width;
    bool writes, atomic;
    warplab::MemoryKind kind;
};

/// Return the counts of a place's accesses to a kind of memory. The reference is valid until the grid ends.
warplab::AccessCounts& counts_of_accesses(const LoggedAccess& access);

/// Return whether the running block is one of the first blocks of the grid, whose requests are counted. The other
/// blocks are assumed to behave in the same way.
inline bool counts_requests_of_block() { return block_state.epoch - first_logged_block < logged_blocks; }
/// Log an access of the running thread. It is later counted as part of a request.
void log_access(const LoggedAccess& access);

/// Reset the counts, including those in the status page.
void forget_counts();
/// Mark the beginning and the end of a grid. The end adds the logged accesses to the status page, and the launch to the
/// record of its shape.
void begin_counting(const Grid& grid);
void end_counting(const Grid& grid, std::size_t static_shared_bytes);

}  // namespace warplab_cpu
