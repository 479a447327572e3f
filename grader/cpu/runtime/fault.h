#pragma once
// Ends a process that cannot continue: writes the reason to the status page and exits.

#include <string>

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/types.h"

namespace warplab_cpu {

struct Grid;

/// Set `block` and `thread` to those that this OS thread runs. Return false outside a kernel.
bool running_thread(uint3& block, uint3& thread);

/// Return whether `address` lies in the inaccessible page below a stack of this OS thread.
bool hits_stack_guard(const void* address);

/// Give this OS thread a stack for signal handlers, and record where its own stack ends. Repeated calls have no effect.
void prepare_thread_for_faults();

/// Install the runtime's handlers again before a grid runs, because the submission's code may have replaced them.
void restore_handlers();
/// Return how often restore_handlers() has found that a handler was replaced.
std::uint32_t count_replaced_handlers();

/// Record the fault with the running thread's place, and end the process with status fault_status + fault. Only the
/// first caller's fault is recorded. If there is no status page, the text goes to stderr.
[[noreturn]] void end_with_fault(warplab::Fault fault, const std::string& detail);

/// Do the same, but record the place of the call whose return address is `caller`.
[[noreturn]] void end_with_fault_at(const void* caller, warplab::Fault fault, const std::string& detail);

/// Do the same for a misaligned access whose hook has the return address `caller`.
[[noreturn]] void end_with_misaligned(const void* address, const void* caller);

/// Record a text for the judge without ending the process: why the last call that returned an error failed.
void note_detail(const std::string& detail, warplab::LaunchLimit limit = warplab::LaunchLimit::none);

/// Record that the program has read the last error. The text about that error must not be used for a later error that
/// has no text.
void note_error_read();
/// Remove the text if it belongs to an error that the program has read.
void drop_detail_of_read_error();

/// Return the status page for writing. page_is_read() states whether a judge reads it.
warplab::StatusPage& writable_page();
bool page_is_read();

/// Return the address at which the executable is loaded.
std::uintptr_t executable_begin();

/// Record in the status page that a grid begins or has ended.
void note_launch(const Grid& grid);
void note_return();
/// Add to the page's counts: one block with early exits; `count` blocks that have ended.
void note_early_exits();
void note_blocks_ended(std::uint64_t count);

}  // namespace warplab_cpu
