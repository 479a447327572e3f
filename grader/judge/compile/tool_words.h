#pragma once
// Explains what compilers, assemblers and linkers print, and why they ended. Only this file, diagnostics.h, remedy.h
// and contract.h read their messages.

#include <optional>
#include <string>

#include "grader/judge/compile/contract.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/compile/job.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::compilation {

inline constexpr std::size_t max_errors_shown = 10;
inline constexpr std::uint64_t max_compiler_memory_bytes = 4ull << 30;
inline constexpr std::uint64_t max_written_bytes = 256ull << 20;  // of a file that a tool writes
inline constexpr std::uint64_t max_runner_bytes = 64ull << 20;    // the cache keeps the runners
inline constexpr std::size_t max_read_bytes = 256 << 10;          // of a compiler's output; the rest is ignored
inline constexpr std::uint64_t max_printed_bytes = 16ull << 20;   // of a tool's output about one file

/// Return whether a tool was stopped because it took too long.
bool is_out_of_time(const Ended& ended, const Job& job);

/// Return the failure of a step that was not started, or that was stopped or killed before its end; nothing for other
/// steps, and if the tool names a mistake in the file.
std::optional<JobOutcome> explain_end(const Ended& ended, const char* tool, const Job& job);

/// Explain why the compiler rejected the text. `rewritten`: the rewriter's output, if the compiler read this; else "".
JobOutcome explain_errors(const std::string& output, const Job& job, const Contract& contract, const std::string& text,
                          const std::string& rewritten);

JobOutcome explain_linker(const std::string& output, const std::string& text);
JobOutcome too_large_program();

/// Return the first line with "error", else the first line.
std::string line_with_error(const std::string& output);

}  // namespace warplab::compilation
