#pragma once
// Starts untrusted programs (the compiler on a student's file, the runner, addr2line) under limits and, if the level
// requires it, in a sandbox. This code is independent of the program's purpose.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/sandbox/budget.h"

namespace warplab {

/// namespaces: bubblewrap without network, with a separate pid namespace; only the policy's paths are visible. If the
/// judge is root, the program gets an unused uid.
/// uid: for root if namespaces are refused: a separate uid, no_new_privs, Landlock.
/// Both have the same system call filter and an empty session keyring.
/// none: only limits.
enum class SandboxLevel { none, uid, namespaces };
std::string_view sandbox_name(SandboxLevel level);  // "none", "uid", "namespace"

/// The strongest level that works on this machine (tried once by running /bin/true in it), and why a stronger one does
/// not work: the missing feature and the remedy.
struct SandboxSupport {
    SandboxLevel level = SandboxLevel::none;
    std::string why_not_stronger;
    std::string without_groups;  // effects of missing control groups; empty if none is missing
};
const SandboxSupport& sandbox_support();

/// Return why_not_stronger and without_groups in one text, for reports.
std::string sandbox_remark();

struct Limits {
    double wall_s = 10;  // extended up to ten times while other processes starve the child
    double cpu_s = 0;    // processor time of each process; 0: only the budget limits it
    std::uint64_t memory_bytes = 4ull << 30;
    std::uint64_t file_bytes = 256ull << 20;
    int processes = 64;
    std::size_t output_bytes = 64 << 10;  // kept bytes of stdout and stderr together; the rest is read and dropped
    std::uint64_t max_printed_bytes = 0;  // a program that prints more since restart_clock() is ended; 0: no limit
};

/// Selects the system calls that a sandboxed program may make.
enum class Activity {
    compile,  // compilers and tools: may start programs
    run,      // the runner: one process, with threads
};

struct Policy {
    Activity activity = Activity::compile;
    SandboxLevel level = SandboxLevel::none;
    std::vector<std::filesystem::path> readable;  // in addition to /usr, /lib*, /bin and parts of /etc
    std::vector<std::filesystem::path> writable;
    bool gpu = false;             // the GPU's device nodes and the driver's folders
    std::optional<int> gpu_node;  // N of the only visible /dev/nvidiaN; if empty, all are visible
    int slot = 0;                 // as root: which of the unused uids to try first
    Limits limits;
    std::shared_ptr<Budget> budget = nullptr;  // charged with the time used; null: unlimited
};

inline constexpr double max_with_progress = 3;  // multiple of a limit, for a program that makes progress

/// The reason why a program ended. flooded: it printed more than max_printed_bytes.
enum class End { exited, signaled, timed_out, out_of_memory, flooded, not_started, budget_spent };

struct Ended {
    End how = End::not_started;
    int status = 0;                  // exit status or signal
    std::string output;              // capped stdout + stderr
    std::uint64_t output_bytes = 0;  // all bytes of the output, including those that were dropped
    double wall_s = 0;
    double cpu_s = 0;                  // the processor time of all processes of the program
    std::uint64_t peak_rss_bytes = 0;  // the peak of the largest process; 0: at most the judge's own peak
    std::string start_error;           // not_started: what failed
    bool made_progress = false;        // timed_out after max_with_progress times the limit, while it made progress
};

/// A running child. The destructor, or the end of the thread that started the child, kills the child and all
/// processes that it started.
class Process {
  public:
    /// Start a program. `inherited`: descriptors that become 3, 4, … in the child, in this order; all others are
    /// closed. The environment contains only PATH, HOME=/tmp, LANG and `environment`. Throws std::runtime_error only
    /// for the judge's own mistakes; a program that cannot start ends as not_started.
    static Process start(const std::vector<std::string>& argv, const Policy& policy,
                         const std::vector<int>& inherited = {}, const std::vector<std::string>& environment = {},
                         const std::filesystem::path& working_directory = "/tmp");
    Process(Process&&) noexcept;
    Process& operator=(Process&&) noexcept;
    ~Process();

    enum class Event { readable, ended, elapsed };
    /// Read output and watch limits for up to `seconds`, or until `readable_fd` is readable or the child has ended.
    Event wait_for(double seconds, int readable_fd = -1);

    /// Restart the wall-clock limit and the count for max_printed_bytes (once per request of a long-lived child).
    /// `makes_progress`, if given, returns whether the program made progress since the last call; while it returns
    /// true, the limit is extended, up to max_with_progress times.
    void restart_clock(double wall_s, std::function<bool()> makes_progress = nullptr);

    bool running() const;
    void kill();         // kills all processes of the child immediately
    void pause() const;  // stops all processes of the child until resume()
    void resume() const;
    Ended finish();              // waits (within the limits) until the child has ended; safe to call twice
    std::string output() const;  // so far
    int pid() const;             // on the host: of the child that was started (bwrap, if it is used)

  private:
    struct State;
    explicit Process(State* state);
    State* state_;
};

/// Start a program, wait for it and return how it ended: for compilers and tools.
Ended run_to_end(const std::vector<std::string>& argv, const Policy& policy,
                 const std::vector<std::string>& environment = {},
                 const std::filesystem::path& working_directory = "/tmp");

}  // namespace warplab
