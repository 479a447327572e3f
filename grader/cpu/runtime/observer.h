#pragma once
// Whom the runtime tells what it does with memory and grids: check mode, or nobody.

#include <cstddef>

#include "grader/cpu/include/warplab_cpu/launch.h"

namespace warplab_cpu {

class Observer {
  public:
    virtual ~Observer() = default;
    /// Memory from cudaMalloc and its kin; `mapping` is around it, with pages that nobody may touch.
    virtual void memory_begins(void* begin, std::size_t bytes, void* mapping, std::size_t mapping_bytes,
                               bool host_writes) = 0;
    virtual void memory_ends(void* begin) = 0;
    /// By a copy or a fill.
    virtual void memory_written(void* begin, std::size_t bytes) = 0;
    virtual void shared_begins(void* begin, std::size_t bytes, const char* name) = 0;
    virtual void grid_begins(const Grid& grid) = 0;
    virtual void grid_ends() = 0;
    /// Threads of the block returned before a barrier that others wait at.
    virtual void early_exit() = 0;
};

extern Observer* observer;  // null unless the student's file was compiled for check mode

}  // namespace warplab_cpu
