#pragma once
// How a kernel's accesses would fare on a GPU, counted per place in the code: what a warp's lanes access together is
// one request, and the hardware serves it in sectors of 32 bytes (device memory) or one bank after the other (shared).

#include <cstddef>
#include <cstdint>

#include "grader/cpu/include/warplab_cpu/launch.h"
#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/io/status_page.h"

namespace warplab_cpu {

extern std::uint32_t first_logged_block, logged_blocks;  // of the running grid

struct LoggedAccess {
    std::uintptr_t address;  // for shared memory: within the block's
    std::uint32_t place;
    std::uint8_t width;
    bool writes, atomic;
    warplab::MemoryKind kind;
};

/// The counts of a place's accesses to a kind of memory, until the grid ends.
warplab::AccessCounts& counts_of_accesses(const LoggedAccess& access);

/// Return whether the running block is one of the first of the grid, for which requests are counted. The other blocks
/// behave alike.
inline bool makes_out_requests() { return block_state.epoch - first_logged_block < logged_blocks; }
/// Log an access of the running thread, which is later counted as part of a request.
void log_access(const LoggedAccess& access);

/// Around a grid. What was logged is added to the status page at the end, and the launch to those of its shape.
/// Reset the counts, in the status page too.
void forget_counts();
void begin_counting(const Grid& grid);
void end_counting(const Grid& grid, std::size_t static_shared_bytes);

}  // namespace warplab_cpu
