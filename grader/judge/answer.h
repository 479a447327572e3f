#pragma once
// What a runner sends, packet by packet. Any bytes may come.

#include <vector>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab {

/// Takes the findings that lie in the channel, without waiting; false when there are more than check mode makes.
bool take_findings(int channel, std::vector<Finding>& findings);

enum class Heard { nothing, answer, closed, lie };

/// Takes findings and, if it lies behind them, the answer to `asked`, without waiting. lie: what no runner sends.
Heard take_answer(int channel, protocol::Ask asked, std::vector<Finding>& findings, protocol::Answer& answer);

/// The findings as they were told, with what the page adds: further ones, and how often each happened.
std::vector<Finding> merge_findings(std::vector<Finding> told, const StatusPage& page);

}  // namespace warplab
