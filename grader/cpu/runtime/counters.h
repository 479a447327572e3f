#pragma once
// How a kernel's accesses would fare on a GPU, counted per place in the code: what a warp's lanes access together is
// one request, and the hardware serves it in sectors of 32 bytes (device memory) or one bank after the other (shared).

#include <cstdint>

#include "grader/io/status_page.h"

namespace warplab_cpu {

struct LoggedAccess {
    std::uintptr_t address;  // for shared memory: within the block's
    std::uint32_t place;
    std::uint8_t width;
    bool writes, atomic;
    warplab::MemoryKind kind;
};

/// Of the running thread. Only the first blocks of a grid are counted: the others do the same.
void count_access(const LoggedAccess& access);

/// Around a grid. What was logged is added to the status page at the end.
void begin_counting(const char* kernel);
void end_counting();

}  // namespace warplab_cpu
