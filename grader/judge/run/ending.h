#pragma once
// Why a runner gave no good answer, in words that help whoever wrote the code in it. What it left behind is believed
// in nothing: it can make the words clearer, and no more.

#include <cstdint>
#include <string>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"
#include "grader/judge/sandbox/process.h"
#include "grader/model/report.h"

namespace warplab {

/// What is known of a runner that is gone.
struct Ending {
    const Ended& ended;
    const StatusPage& page;
    std::string line;                // where the page says it faulted: "file.cu:31"; "" when that is not known
    double limit_s = 0;              // for the answer that did not come
    Limits limits = {};              // of the process
    std::uint64_t buffer_bytes = 0;  // of the judge's, which it had mapped
};
/// The cause is `internal` or `sandbox` if the judge's side may be at fault. The program can forge both: see
/// check_dataset(), which runs the reference.
Failure explain_end(const Ending& ending);

/// Whether the judge's side may be at fault.
bool can_be_ours(const Failure& failure);

/// The same failure, attributed to the program because the reference does not fail.
Failure blame_program(Failure failure);

/// An answer that is well-formed and not ok.
Failure explain_refusal(const protocol::Answer& answer, const StatusPage& page);

/// A protocol violation; `what` is a sentence.
Failure explain_violation(const std::string& what);

}  // namespace warplab
