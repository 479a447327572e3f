#pragma once
// The results of grading: the types of schema/report.schema.json, and functions that interpret them.

#include <string>
#include <string_view>

#include "generated/report.h"

namespace warplab {

/// Return the part of the score's maximum that is not decided yet.
double pending(const Score& score);

/// Return whether the file did not compile or a dataset's outputs are wrong.
bool outputs_failed(const StageReport& stage);
/// Return whether nvcc also compiled the file and rejected it.
bool refused_by_nvcc(const Compilation& compilation);
/// Return whether the file uses a feature that the CPU backend refuses and a GPU may support.
bool needs_gpu(const Compilation& compilation);
/// Return whether the finding may explain a wrong answer, but is irrelevant if the answer is right.
inline bool matters_if_wrong(const Finding& finding) {
    return finding.cause == "absent_lane" || finding.cause == "unset_constant" || finding.cause == "kept_value";
}
/// Return the first finding that makes the stage fail; null if there is none.
const Finding* first_finding(const StageReport& stage);
/// Return the finding as the message of a failure: "Line 12: Race on …".
std::string message_of(const Finding& finding);
/// Return error if a dataset could not be judged, because the stage then has no score; otherwise failed if a dataset
/// failed, and passed if none did. Skipped datasets do not count.
Verdict verdict_of(const std::vector<Check>& checks);

/// Read a report and skip unknown keys. Throws std::runtime_error with the place of an invalid value.
Report report_from_json(const Json& json);
/// Write and read the text of report.json. Reading throws like report_from_json, and if the text is not JSON.
std::string format_report(const Report& report);
inline constexpr std::size_t max_report_bytes = 64 << 20;  // many times the size of any report
Report parse_report(std::string_view text);

}  // namespace warplab
