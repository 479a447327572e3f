#pragma once
// A memory limit over all processes of a sandbox together, where the judge may make control groups (root outside
// containers, mostly). Without it RLIMIT_DATA limits each process by itself.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace warplab::sandbox {

class MemoryGroup {
  public:
    /// Nothing when this machine does not let us.
    static std::optional<MemoryGroup> make(std::uint64_t bytes);
    MemoryGroup(MemoryGroup&& other) noexcept;
    MemoryGroup& operator=(MemoryGroup&& other) noexcept;
    ~MemoryGroup();

    /// cgroup.procs, open for writing: a process that writes "0" there joins.
    int join_file() const { return join_file_; }
    bool ran_out() const;  // the kernel killed a member because the group's memory was used up

  private:
    MemoryGroup(std::filesystem::path folder, bool unified, int join_file);
    std::filesystem::path folder_;
    bool unified_;
    int join_file_;
};

}  // namespace warplab::sandbox
