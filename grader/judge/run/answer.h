#pragma once
// What a runner sends, packet by packet. Any bytes may come.

#include <string>
#include <vector>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab {

/// The judge's end of the pipe that a runner answers on.
class Inbox {
  public:
    enum class Read { nothing, answer, closed, violation };  // violation: invalid bytes

    /// Takes the available bytes from `pipe`, which does not block, up to one answer.
    Read read(int pipe, protocol::Ask asked);

    const protocol::Answer& answer() const { return answer_; }
    const std::vector<Finding>& findings() const { return findings_; }

  private:
    Read parse(protocol::Ask asked);

    std::string bytes_;  // of an incomplete packet
    std::vector<Finding> findings_;
    protocol::Answer answer_{};
};

/// The findings in order of arrival, with the page's additions: further findings, and how often each occurred.
std::vector<Finding> merge_findings(std::vector<Finding> sent, const StatusPage& page);

}  // namespace warplab
