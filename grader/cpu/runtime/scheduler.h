#pragma once
// Runs a grid: blocks on a pool of OS threads, the threads of a block as a loop or as fibers.

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/launch.h"

namespace warplab_cpu {

/// Runs every block; returns when all are done. One grid at a time.
void run_grid(const Grid& grid);

/// Whether this OS thread is inside a kernel.
bool in_kernel();

const warplab::StatusPage& status_page();

}  // namespace warplab_cpu
