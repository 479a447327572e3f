#pragma once
// Landlock (Linux 5.13 and newer): restricts a process's access to the file system without namespaces.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace warplab::sandbox {

/// Return the version of Landlock in this kernel, 0 = none.
int landlock_version();

/// Make a ruleset to enter; the caller closes it. It allows reading and executing files below `readable` and
/// `writable`, changing files below `writable`, and opening `devices` for reading and writing; nothing else can be
/// opened. Paths that do not exist are skipped. Return -1 if this fails, as without Landlock.
int landlock_ruleset(const std::vector<std::filesystem::path>& readable,
                     const std::vector<std::filesystem::path>& writable,
                     const std::vector<std::filesystem::path>& devices);

/// Return sets of rights for allow_below(): reading() to read and execute; writing() to read and write existing files.
std::uint64_t reading();
std::uint64_t writing();

/// Grant rights below an open file or folder. Async-signal-safe.
bool allow_below(int ruleset, int file, std::uint64_t access);

}  // namespace warplab::sandbox
