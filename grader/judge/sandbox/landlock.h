#pragma once
// Landlock (Linux 5.13 and newer): what a process may touch in the file system, without namespaces.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace warplab::sandbox {

/// The kernel's version of it, 0 = none.
int landlock_version();

/// A ruleset to enter (the caller closes it): everything below `readable` may be read and executed, below `writable`
/// changed too, `devices` are opened for reading and writing, and nothing else can be opened. Paths that do not exist
/// are left out. -1 without Landlock.
int landlock_ruleset(const std::vector<std::filesystem::path>& readable,
                     const std::vector<std::filesystem::path>& writable,
                     const std::vector<std::filesystem::path>& devices);

/// Rights of a ruleset: to read and execute; to read and write existing files.
std::uint64_t reading();
std::uint64_t writing();

/// Grants rights below an open file or folder. Async-signal-safe.
bool allow_below(int ruleset, int file, std::uint64_t access);

}  // namespace warplab::sandbox
