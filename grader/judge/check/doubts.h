#pragma once
// Decides whether the sanitizer's result can be trusted. The sanitizer runs in the submission's own process, so the
// judge compares its result with the findings that arrived, and with the bytes that a correct answer accesses.

#include <cstddef>
#include <string>
#include <vector>

#include "grader/io/status_page.h"
#include "grader/judge/lab/oracle.h"
#include "grader/model/manifest.h"

namespace warplab {

/// The judge's knowledge of a call whose outputs were correct.
struct CheckedCall {
    const Problem& problem;
    const std::vector<Array>& before;         // contents of every buffer before the call
    const std::vector<Array>& after;          // contents after the call
    bool host_variant;                        // the buffers are in host memory: the sanitizer sees only copies of them
    const std::vector<RawFinding>& findings;  // the findings that this process has sent so far
};

/// Return a sentence with the first reason to doubt that the sanitizer saw the whole call; empty if there is none.
std::string find_doubt(const Lab& lab, const Oracle& oracle, const CheckedCall& call, const Observations& observed);

}  // namespace warplab
