#pragma once
// How the runtime ends a process that cannot go on: the status page says why, then the process leaves.

#include <string>

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/types.h"

namespace warplab_cpu {

/// Where this OS thread is, for a report: false outside a kernel.
bool running_thread(uint3& block, uint3& thread);

/// Whether `address` lies in the unusable page below a stack of this OS thread.
bool hits_stack_guard(const void* address);

/// Gives this OS thread a stack for signal handlers and notes where its own stack ends. Harmless to repeat.
void prepare_thread_for_faults();

/// Before each grid: install our handlers again, because the submission's code may have replaced them.
void restore_handlers();
/// Number of replaced handlers so far.
std::uint32_t disturbances();

/// Records the fault, with the running thread's place, and ends the process with status fault_status + fault. The
/// first caller wins; without a status page the words go to stderr.
[[noreturn]] void end_with_fault(warplab::Fault fault, const std::string& detail);

/// The same at the place of the code that returns to `caller`.
[[noreturn]] void end_with_fault_at(const void* caller, warplab::Fault fault, const std::string& detail);

/// The same for a misaligned access by the code that returns to `caller`.
[[noreturn]] void end_with_misaligned(const void* address, const void* caller);

/// Words for the judge that end nothing: what was wrong with the last call that returned an error.
void note_detail(const std::string& detail);

/// The page that is written, and whether anybody reads it.
warplab::StatusPage& writable_page();
bool page_is_read();

/// Where the executable was loaded.
std::uintptr_t executable_begin();

void note_launch(const char* kernel, int line);
void note_return();
void note_early_exits();

}  // namespace warplab_cpu
