#pragma once
// What check mode has found, in the status page where the judge reads it.

#include "grader/io/status_page.h"

namespace warplab_cpu {

/// Adds a finding, or one more to its like: the same kind at the same places.
void record_finding(const warplab::Finding& finding, std::uint64_t times = 1);

/// Number of different findings.
std::uint32_t recorded_findings();
std::uint64_t digest_of_findings();

/// Adds a guard: see StatusPage.
void record_guard(std::uint64_t program_counter);

}  // namespace warplab_cpu
