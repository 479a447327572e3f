#pragma once
// One runner process and the conversation with it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/io/protocol.h"
#include "grader/io/seal.h"
#include "grader/io/status_page.h"
#include "grader/judge/run/answer.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    int get() const { return number_; }
    void reset();

  private:
    int number_;
};

enum class Sanitizer { off, on };

class Session {
  public:
    /// Starts the runner. `prefix` runs it under a tool (compute-sanitizer …). Throws std::runtime_error when a socket
    /// or memory file cannot be had.
    Session(const std::filesystem::path& runner, const Policy& policy, const std::vector<std::string>& prefix = {},
            const std::vector<std::string>& environment = {}, Sanitizer sanitizer = Sanitizer::off);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Sends a request and waits for its answer. On anything else than a well-formed answer with ok set there is a
    /// Failure, and unless the answer itself reported a CUDA error the runner is dead afterwards.
    struct Reply {
        protocol::Answer answer{};
        std::optional<Failure> failure;
        bool ours = false;  // the failure is our side's
        double wall_s = 0;  // from sending to the answer's arrival
    };
    Reply ask(protocol::Request request, const std::vector<int>& descriptors, double limit_s);

    bool alive() const { return alive_; }
    StatusPage status() const;
    /// Findings so far. Each finding was sent when it occurred, so later writes to the status page cannot
    /// retract it.
    std::vector<Finding> findings();
    /// Those that have arrived.
    const std::vector<Finding>& findings_sent() const { return inbox_.findings(); }
    std::string output() const { return process_.output(); }
    /// Ends the runner at once: it may have work queued that nobody wants any more.
    void kill();
    void pause() const { process_.pause(); }
    void resume() const { process_.resume(); }
    /// Lets the runner end by itself (tools write their report then).
    Ended finish();

  private:
    Reply violated(const std::string& what);
    Reply died(double limit_s);
    std::string source_line(std::uint64_t program_counter) const;

    std::filesystem::path runner_;
    Policy policy_;
    protocol::Key key_;  // seals this runner's answers
    Descriptor requests_, answers_, page_file_;
    StatusPage* page_ = nullptr;
    std::uint64_t answers_taken_ = 0;
    Inbox inbox_;
    std::uint64_t buffer_bytes_ = 0;  // of the judge's, as opened last
    Process process_;
    bool alive_ = true;
};

/// A request with its header filled and the problem's sizes and parameters.
protocol::Request make_request(protocol::Ask ask, const std::vector<std::int64_t>& sizes = {},
                               const std::vector<double>& reals = {});

}  // namespace warplab
