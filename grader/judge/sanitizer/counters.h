#pragma once
// Summaries of check mode's counters for whole kernels and stages: how they fill a GPU, and how much memory they
// request.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/io/status_page.h"
#include "grader/judge/compile/resources.h"
#include "grader/judge/sanitizer/findings.h"
#include "grader/judge/sanitizer/occupancy.h"

namespace warplab {

/// The counts of one dataset.
struct Counted {
    std::string dataset;
    std::vector<AccessCounts> accesses;
    std::vector<LaunchCounts> launches;
    double least_bytes = 0;  // that all its calls have to move through device memory
};

Counted all_of(const std::vector<Counted>& datasets);

/// Bytes of the sectors that all requests to device memory touch. What was not looked at counts like what was.
double device_bytes(const std::vector<AccessCounts>& accesses);

/// Launches of one kernel with one shape of block, and what is resident at once on a multiprocessor.
struct KernelShape {
    std::string kernel;
    LaunchCounts launch;
    KernelResources resources;  // registers 0: not known
    Occupancy occupancy;

    int threads() const;  // of a block
    std::uint64_t shared_bytes() const;
};

/// Return the kernels in the order of their first launch; launches that differ in block or shared memory are separate.
std::vector<KernelShape> describe_kernels(const std::vector<LaunchCounts>& launches,
                                          const std::map<std::string, KernelResources>& resources, const Gpu& gpu);

/// "256 threads a block, 4352 bytes shared, 40 registers: 1536 of 2048 threads of an H200's multiprocessor (75%),
/// limited by registers."
std::string occupancy_words(const KernelShape& shape, const Gpu& gpu);

/// The margin beside a line of the source: what the requests of all warps that came there were like, on average.
struct LineSummary {
    int line = 0;
    double heat = 0;  // sectors, passes and clashes, of the line that has most: how long memory works for it
    std::uint64_t requests = 0;
    double lanes = 0;                               // that take part, of 32
    std::optional<double> sectors, fewest_sectors;  // of device memory
    std::optional<double> passes;                   // of shared memory or constants
    std::optional<double> clashes;                  // of atomics: lanes that meet at one address

    bool few_lanes() const { return lanes < 16; }
    bool many_sectors() const { return sectors && *sectors >= 2 * *fewest_sectors; }
    bool many_passes() const { return passes && *passes >= 2; }
    bool many_clashes() const { return clashes && *clashes >= 4; }
};

/// Sums over all kernels: device_bytes over the least; bytes that threads load from device memory and store there, each
/// for itself, over the least; their loads and stores for each 16 bytes; atomics on device memory for each block;
/// sectors over the fewest; passes for each request to shared memory; share of idle lanes in those. 0 where nothing of
/// the kind was done.
double counter_value(Counter counter, const Counted& counted);

/// A stage's limit, and the counted value.
struct LimitOutcome {
    CounterLimit limit;
    double value = 0;
    bool held() const { return value <= limit.at_most; }
};

/// Compare the counts with those limits of the stage whose dataset was counted.
std::vector<LimitOutcome> compare_with_limits(const Stage& stage, const std::vector<Counted>& datasets);

/// "Technique not used: 1,024 atomics on device memory for each block on noise, where 256 are enough. This stage is
/// about bins in shared memory."
std::string limit_words(const LimitOutcome& outcome);

/// By line.
std::vector<LineSummary> summarize_lines(const std::vector<LineCounts>& counts);

}  // namespace warplab
