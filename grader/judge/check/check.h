#pragma once
// Runs a student's code on datasets and compares what it leaves in the judge's buffers with the oracle's answers.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "grader/judge/check/answers.h"
#include "grader/judge/lab/oracle.h"
#include "grader/judge/run/buffers.h"
#include "grader/judge/run/session.h"
#include "grader/model/backend.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Everything that stays the same while one stage is judged.
struct StageRun {
    const Lab& lab;
    const Stage& stage;
    const Oracle& oracle;
    Backend backend;
    std::filesystem::path runner;
    Policy policy;
    Memory& device;                             // device buffers
    Memory& host;                               // host buffers (memory files)
    std::vector<std::string> tool = {};         // runs the runner under a tool
    std::vector<std::string> environment = {};  // of the runner, NAME=value
    Sanitizer sanitizer = Sanitizer::off;
    std::unique_ptr<Session> session = nullptr;
    std::string output = {};              // what ended sessions printed
    std::vector<Finding> findings = {};   // what check mode saw in them
    std::set<std::uint64_t> guards = {};  // and StatusPage's
    std::vector<AccessCounts> counts = {};
    std::vector<LaunchCounts> launches = {};
    std::uint64_t calls = 0;                         // of the contract function, in them
    std::uint64_t calls_collected = 0;               // of the living session
    bool uncollected = false;                        // the living session has counted since collect_counts()
    std::vector<std::uint64_t> launch_digests = {};  // of each call, in them
    std::string doubt = {};                          // the first reason not to trust the sanitizer
    std::shared_ptr<Answers> answers = std::make_shared<Answers>();
    /// Makes a run of the stage's reference, compiled and sandboxed in the same way; null if it does not compile.
    std::function<std::unique_ptr<StageRun>()> reference = {};
    /// If kernels are split at their barriers: returns a runner in which each thread has a fiber; empty if it does not
    /// compile.
    std::function<std::filesystem::path()> by_fibers = {};

    /// The living session, started when there is none.
    Session& runner_session();
    /// Waits until it has got at the device. Where it could not, it is started again a second later: the GPU's memory
    /// may still be that of a program just killed.
    Session::Reply greet();
    void end_session();
    /// Continue with the runner of by_fibers(), without the output of the present session.
    void change_to_fibers();

    /// Suspend and resume the runner.
    void pause_session() const {
        if (session) session->pause();
    }
    void resume_session() const {
        if (session) session->resume();
    }

    /// Takes the living session's counts for the last dataset.
    void collect_counts();
};

/// Why a dataset cannot be run on this backend; empty where it can.
std::string why_not_here(const StageRun& run, const Dataset& dataset);

/// One dataset: called several times with different inputs, stale outputs and (on the CPU backend) both thread orders.
/// An error, and a dataset skipped for lack of memory, count only if the stage's reference gets them too: code can
/// cause both at will, by its exit status or by hoarding memory. If the reference gets further, the check has failed.
Check check_dataset(StageRun& run, const Dataset& dataset);

/// Opens `buffers` in the session for problems shaped like `shape`; what the student's prepare function did wrong.
std::optional<Failure> open_buffers(StageRun& run, const Problem& shape, const Buffers& buffers, bool host_variant);

/// Scratch bytes the student's code asks for; a failure when that is absurd.
struct Prepared {
    std::size_t scratch_bytes = 0;
    bool has_host = false;
    std::optional<Failure> failure;
    bool ours = false;
};
Prepared prepare(StageRun& run, const Problem& shape, bool host_variant);

/// Bytes that one call of these sizes may copy from the device to the host.
std::uint64_t host_bytes_allowed(const StageRun& run, const Problem& problem);

/// Seconds that a call of these sizes may take before it counts as endless.
double time_limit_s(const StageRun& run, const Problem& problem);

}  // namespace warplab
