#pragma once
// How a kernel's accesses would fare on a GPU, counted per place in the code: what a warp's lanes access together is
// one request, and the hardware serves it in sectors of 32 bytes (device memory) or one bank after the other (shared).

#include <cstddef>
#include <cstdint>

#include "grader/cpu/include/warplab_cpu/launch.h"
#include "grader/io/status_page.h"

namespace warplab_cpu {

struct LoggedAccess {
    std::uintptr_t address;  // for shared memory: within the block's
    std::uint32_t place;
    std::uint8_t width;
    bool writes, atomic;
    warplab::MemoryKind kind;
};

/// Of the running thread. Only in the first blocks of a grid are requests made out: the others do the same.
void count_access(const LoggedAccess& access);

/// Around a grid. What was logged is added to the status page at the end, and the launch to those of its shape.
/// Reset the counts, in the status page too.
void forget_counts();
void begin_counting(const Grid& grid);
void end_counting(const Grid& grid, std::size_t static_shared_bytes);

}  // namespace warplab_cpu
