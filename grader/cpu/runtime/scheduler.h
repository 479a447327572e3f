#pragma once
// Runs a grid: blocks on a pool of OS threads, the threads of a block as a loop or as fibers.

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/launch.h"

namespace warplab_cpu {

/// Runs every block; returns when all are done. One grid at a time.
void run_grid(const Grid& grid);

/// Whether this OS thread is inside a kernel.
bool in_kernel();

/// Warp functions that the running thread's warp has completed.
unsigned warp_meetings();

/// Stacks of a block's threads, and what is known of each.
bool belongs_to_scheduler(const void* address);

const warplab::StatusPage& status_page();

}  // namespace warplab_cpu
