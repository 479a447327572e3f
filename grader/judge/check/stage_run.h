#pragma once
// The state of a stage that is being judged, and the requests to its program.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/judge/check/known_problems.h"
#include "grader/judge/lab/oracle.h"
#include "grader/judge/run/buffers.h"
#include "grader/judge/run/session.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// One stage while it is judged: its program, the current session, and the results of the ended sessions.
struct StageRun {
    static constexpr double max_searching_s = 3, max_experimenting_s = 3;
    const Lab& lab;
    const Stage& stage;
    const Oracle& oracle;
    Backend backend;
    std::filesystem::path runner;
    Policy policy;
    BufferMemory& device;                       // device buffers
    BufferMemory& host;                         // host buffers (memory files)
    std::vector<std::string> tool = {};         // runs the runner under a tool
    std::vector<std::string> environment = {};  // the runner's environment, NAME=value
    Sanitizer sanitizer = Sanitizer::off;
    bool counts_requests = false;   // the sanitizer also counts requests to memory, which costs time
    unsigned multiprocessors = 16;  // those of the GPU that the CPU backend simulates
    TraceFile trace = {};
    const std::atomic<bool>* cancelled = nullptr;  // once true, all requests end as if their time were up
    std::unique_ptr<Session> session = nullptr;
    std::string output = {};                // what the ended sessions printed
    std::vector<RawFinding> findings = {};  // the sanitizer's findings in the ended sessions
    std::set<std::uint64_t> guards = {};    // guards in the ended sessions; see StatusPage
    std::vector<AccessCounts> counts = {};
    std::vector<LaunchCounts> launches = {};
    std::uint64_t calls = 0;                         // calls of the contract function, as far as collected
    std::uint64_t calls_collected = 0;               // calls of the current session that were collected
    bool has_uncollected_counts = false;             // the current session has counted since collect_counts()
    std::vector<std::uint64_t> launch_digests = {};  // one digest per call that ended; the owner clears them
    std::string doubt = {};                          // the first reason not to trust the sanitizer
    // The remaining time for finding causes of wrong outputs: by a search for mistakes that give the same outputs, and
    // by more calls of the code. They are separate, because a search that finds nothing would leave no time for calls.
    double searching_s = max_searching_s, experimenting_s = max_experimenting_s;
    /// Called with a description of the current work.
    std::function<void(const std::string&)> doing = [](const std::string&) {};
    std::shared_ptr<KnownProblems> known_problems = std::make_shared<KnownProblems>();
    /// Return a run of the stage's reference, compiled and sandboxed in the same way; null if it does not compile.
    std::function<std::unique_ptr<StageRun>()> reference = {};
    /// If kernels are split at their barriers: return a runner in which each thread has a fiber; empty if it does not
    /// compile.
    std::function<std::filesystem::path()> make_fiber_runner = {};

    /// Return a dataset's problem, generated once for all runs that share `known_problems`; so are the answers that
    /// solve() writes.
    Problem generate(const Dataset& dataset, std::uint64_t seed) const {
        return known_problems->generate(oracle, lab, dataset, seed);
    }
    void solve(const Dataset& dataset, std::uint64_t seed, Problem& problem) const {
        known_problems->solve(oracle, lab, dataset, seed, problem);
    }

    /// Return the current session; start one if there is none.
    Session& runner_session();
    /// Wait until the session has opened the device. If it cannot open the device, start another session a second
    /// later: a program that was just killed may still hold the GPU's memory.
    Session::Reply wait_for_device();
    /// End the current session, if there is one, and keep its results.
    void end_session();
    /// Continue with the runner of make_fiber_runner(), without the output of the current session.
    void switch_to_fibers();

    /// Suspend and resume the runner.
    void pause_session() const {
        if (session) session->pause();
    }
    void resume_session() const {
        if (session) session->resume();
    }

    /// Add the current session's counts for the last dataset.
    void collect_counts();
};

/// While it exists, takes the time that passes from `left_s`, in seconds.
class ExplainingTime {
  public:
    explicit ExplainingTime(double& left_s) : left_s_(left_s) {}
    ~ExplainingTime() { left_s_ -= std::chrono::duration<double>(Clock::now() - begin_).count(); }
    ExplainingTime(const ExplainingTime&) = delete;
    ExplainingTime& operator=(const ExplainingTime&) = delete;

  private:
    using Clock = std::chrono::steady_clock;
    double& left_s_;
    Clock::time_point begin_ = Clock::now();
};

/// Open `buffers` in the session for problems shaped like `shape`. Returns the failure of the student's prepare
/// function, if any.
std::optional<Failure> open_buffers(StageRun& run, const Problem& shape, const Buffers& buffers,
                                    bool host_variant = false);

/// The answer to a `prepare` request: the scratch bytes that the student's code requests, or a failure.
struct Prepared {
    std::size_t scratch_bytes = 0;
    bool has_host = false;  // whether the code defines the host variant
    std::optional<Failure> failure;
    bool judge_fault = false;
};
Prepared prepare(StageRun& run, const Problem& shape, bool host_variant = false);

/// Return the bytes that one call of these sizes may copy from the device to the host.
std::uint64_t host_bytes_allowed(const StageRun& run, const Problem& problem);

/// Return the seconds after which a call of these sizes counts as endless.
double time_limit_s(const StageRun& run, const Problem& problem);

}  // namespace warplab
