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
    enum class Read { nothing, answer, closed, violation };  // violation: bytes that no runner sends

    /// Takes what lies in `pipe`, which does not block, as far as one answer.
    Read read(int pipe, protocol::Ask asked);

    const protocol::Answer& answer() const { return answer_; }
    const std::vector<Finding>& findings() const { return findings_; }

  private:
    Read parse(protocol::Ask asked);

    std::string bytes_;  // of a packet that has not come whole
    std::vector<Finding> findings_;
    protocol::Answer answer_{};
};

/// The findings as they came, with what the page adds: further ones, and how often each happened.
std::vector<Finding> merge_findings(std::vector<Finding> sent, const StatusPage& page);

}  // namespace warplab
