#pragma once
// Reads a runner's packets. They may contain any bytes.

#include <string>
#include <vector>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab {

/// The judge's end of the pipe that carries a runner's answers.
class Inbox {
  public:
    enum class Read { nothing, answer, closed, violation };  // violation: invalid bytes

    /// Read the available bytes from `pipe`, which must be non-blocking, up to one answer.
    Read read(int pipe, protocol::Ask expected);

    const protocol::Answer& answer() const { return answer_; }
    const std::vector<RawFinding>& findings() const { return findings_; }

  private:
    Read parse(protocol::Ask expected);

    std::string bytes_;  // an incomplete packet
    std::vector<RawFinding> findings_;
    protocol::Answer answer_{};
};

/// Return the sent findings in order of arrival, then the others on the status page. The status page can also raise a
/// finding's count.
std::vector<RawFinding> merge_findings(std::vector<RawFinding> sent, const StatusPage& page);

}  // namespace warplab
