#pragma once
// A runner process and the communication with it.

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/common/descriptor.h"
#include "grader/io/protocol.h"
#include "grader/io/seal.h"
#include "grader/io/status_page.h"
#include "grader/judge/run/ending.h"
#include "grader/judge/run/inbox.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

enum class Sanitizer { off, on };

/// A memory file of trace::max_bytes for a trace, and the order that says what to record. Without a descriptor (-1),
/// nothing is recorded.
struct TraceFile {
    int descriptor = -1;
    trace::Order order = {};
};

class Session {
  public:
    /// Start the runner. `prefix` runs it under a tool (compute-sanitizer …). Throws std::runtime_error if a socket or
    /// memory file cannot be created.
    Session(const std::filesystem::path& runner, const Policy& policy, const std::vector<std::string>& prefix = {},
            const std::vector<std::string>& environment = {}, Sanitizer sanitizer = Sanitizer::off,
            const TraceFile& trace = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    struct Reply {
        protocol::Answer answer{};
        std::optional<Failure> failure;
        bool judge_fault = false;  // whether the judge's side caused the failure
        double wall_s = 0;         // from sending to the answer's arrival
    };
    /// Send a request and wait for its answer. The reply contains a Failure unless a well-formed answer with `ok` set
    /// arrives. After a failure, the runner has ended, except if the answer reported a CUDA error. `circumstances` make
    /// the message about a failed call more precise.
    Reply ask(protocol::Request request, const std::vector<int>& descriptors, double limit_s,
              const std::optional<Circumstances>& circumstances = {});

    /// Treat a request as timed out when `*cancelled` becomes true, because its answer is no longer needed.
    void end_when(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

    bool alive() const { return alive_; }
    StatusPage status() const;
    /// Return the findings so far. Each finding was sent when it occurred, so later writes to the status page cannot
    /// retract it.
    std::vector<RawFinding> findings();
    /// Return the findings that have arrived, without those that only the status page has.
    const std::vector<RawFinding>& findings_sent() const { return inbox_.findings(); }
    std::string output() const { return process_.output(); }
    /// End the runner immediately, without waiting for its queued work.
    void kill();
    void pause() const { process_.pause(); }
    void resume() const { process_.resume(); }
    /// Let the runner end by itself, so that a tool under which it runs can write its report.
    Ended finish();

  private:
    Reply violated(Violation violation);
    struct GridProgress {
        std::uint64_t launches;
        std::uint32_t blocks;
    };
    /// Return the progress of the running grid, as the CPU backend reports it.
    GridProgress grid_progress() const;
    Reply explain_ended_runner(double limit_s, const std::optional<Circumstances>& circumstances);
    std::string source_line(std::uint64_t program_counter) const;

    const std::atomic<bool>* cancelled_ = nullptr;
    std::filesystem::path runner_;
    Policy policy_;
    protocol::Key key_;  // seals this runner's answers
    Descriptor requests_, answers_, page_file_;
    StatusPage* page_ = nullptr;
    std::uint64_t answers_taken_ = 0;
    Inbox inbox_;
    std::uint64_t buffer_bytes_ = 0;  // bytes of the judge's buffers since the last open request
    Process process_;
    bool alive_ = true;
};

/// Return random bits for seals.
protocol::Key draw_key();

/// Return a request with its header and the problem's sizes and parameters.
protocol::Request make_request(protocol::Ask ask, const std::vector<std::int64_t>& sizes = {},
                               const std::vector<double>& reals = {});

}  // namespace warplab
