#pragma once
// The sanitizer's findings, in the status page that the judge reads.

#include "grader/io/status_page.h"

namespace warplab_cpu {

/// Add a finding. If the same kind was already found at the same places, add to its count instead.
void record_finding(const warplab::RawFinding& finding, std::uint64_t times = 1);

/// Return the number of different findings that were recorded (at most max_findings), and their digest.
std::uint32_t recorded_findings();
std::uint64_t digest_of_findings();

/// Add a guard (see StatusPage).
void record_guard(std::uint64_t program_counter);

}  // namespace warplab_cpu
