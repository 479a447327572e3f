#pragma once
// Whether what the sanitizer says can be believed. It runs in the submission's own process, so the judge holds its
// words against what it knows itself: the findings that arrived, and the bytes that a right answer takes.

#include <cstddef>
#include <string>
#include <vector>

#include "grader/core/manifest.h"
#include "grader/io/status_page.h"
#include "grader/judge/oracle.h"

namespace warplab {

/// What the judge knows of a call whose outputs were right.
struct Evidence {
    const Problem& problem;
    const std::vector<Array>& before;  // what every buffer held before the call
    const std::vector<Array>& after;   // and after it
    bool host_variant;                 // on host memory, of which the sanitizer sees copies alone
    std::size_t findings_received;     // from this process so far
};

/// The first reason not to believe that the sanitizer saw the whole call, as a sentence; empty when everything adds up.
std::string find_doubt(const Lab& lab, const Oracle& oracle, const Evidence& evidence, const Observed& observed);

}  // namespace warplab
