#pragma once
// One control group for all processes of a sandbox. It limits their total memory and their number, gives them a fair
// share of the processors, and counts their processor time, including that of ended processes. If possible, it is below
// the judge's own group, so that a cluster's limits on the judge also apply to the sandbox; otherwise, it is below the
// root of the hierarchy.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/common/descriptor.h"

namespace warplab::sandbox {

/// The features of control groups that the judge can use on this machine.
struct ControlGroupSupport {
    bool memory = false, processors = false, processes = false, time = false;
    std::string weaknesses() const;  // the effects of the missing features, as a sentence; empty if none is missing
};
const ControlGroupSupport& control_group_support();

class ControlGroup {
  public:
    /// Make a group. Return nothing if the judge cannot create groups on this machine. `processes` includes threads.
    static std::optional<ControlGroup> make(std::uint64_t memory_bytes, std::uint64_t processes);
    ControlGroup(ControlGroup&& other) noexcept;
    ControlGroup& operator=(ControlGroup&& other) noexcept;
    ~ControlGroup();

    /// Return a file of each hierarchy, open for writing: a process with one thread that writes "0" to all of them
    /// joins the group.
    std::vector<int> join_files() const;
    bool ran_out() const;                 // the kernel killed a member because the group's memory was used up
    std::optional<double> cpu_s() const;  // used so far; nothing if it is not counted

  private:
    ControlGroup() = default;
    std::filesystem::path folder(const char* controller) const;
    std::vector<std::filesystem::path> folders_;  // one per hierarchy
    std::vector<Descriptor> join_files_;
};

}  // namespace warplab::sandbox
