#pragma once
// Explains to the author of the code why a runner gave no valid answer. The data that the runner left is not trusted:
// it can only make the explanation more precise.

#include <cstdint>
#include <optional>
#include <string>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/report.h"

namespace warplab {

/// Properties of a call on which the message about its failure depends.
struct Circumstances {
    std::string zero_size;                       // the name of a size that is 0; empty if there is none
    std::uint64_t host_bytes_per_iteration = 0;  // the limit of the stage
};

/// Return the hint about work on the host. If the stage allows a copy in each iteration, the hint begins with the size
/// of the copies.
std::string host_work_hint(std::uint64_t host_bytes_per_iteration);

/// The judge's knowledge about a runner that has ended.
struct Ending {
    const Ended& ended;
    const StatusPage& page;
    std::string line;                // line of the fault on the status page: "file.cu:31"; "" if unknown
    double limit_s = 0;              // the time limit of the missing answer
    Limits limits = {};              // the process's limits
    std::uint64_t buffer_bytes = 0;  // size of the judge's buffers that the runner had mapped
    std::optional<Circumstances> circumstances = {};
};

/// Explain the end of a runner. The cause is `internal` or `sandbox` if the judge may be at fault. The program
/// can forge both, so check_dataset() runs the reference to confirm them.
Failure explain_end(const Ending& ending);

/// Return the hint for a launch that CUDA refuses.
const char* hint_for_launch(LaunchLimit limit);

/// Return whether the judge may be at fault.
bool may_be_judges_fault(const Failure& failure);

/// Return the same failure, attributed to the program because the reference does not fail.
Failure attribute_to_program(Failure failure);

/// Explain an answer that is well-formed but not ok.
Failure explain_refusal(const protocol::Answer& answer, const StatusPage& page,
                        const std::optional<Circumstances>& circumstances = {});

/// The ways in which a runner can break the protocol.
enum class Violation { answered_before_asked, reads_no_requests, wrote_to_channel, closed_channel };
Failure explain_violation(Violation violation);

}  // namespace warplab
