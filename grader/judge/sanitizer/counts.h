#pragma once
// Summaries of the sanitizer's counters: how well kernels fill a GPU, how much memory a stage requests, and which lines
// take most of the time for memory.

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
    double minimum_bytes = 0;  // the minimum that all its calls must move through device memory
};

/// Return the counts of all datasets together.
Counted all_of(const std::vector<Counted>& datasets);

/// Return the bytes of the sectors that all requests to device memory touch, extrapolated from the inspected requests.
double device_bytes(const std::vector<AccessCounts>& accesses);

/// Launches of one kernel with one block shape, and the number of blocks and threads resident at once on a
/// multiprocessor.
struct KernelShape {
    std::string kernel;
    LaunchCounts launch;
    KernelResources resources;  // registers 0: unknown
    Occupancy occupancy;

    int threads() const;  // threads per block
    std::uint64_t shared_bytes() const;
};

/// Return the kernels in the order of their first launch; launches that differ in block or shared memory are separate.
std::vector<KernelShape> describe_kernels(const std::vector<LaunchCounts>& launches,
                                          const std::map<std::string, KernelResources>& resources, const Gpu& gpu);

/// Describe the occupancy: "256 threads per block, 4352 bytes shared, 40 registers: 1536 of 2048 threads of an H200's
/// multiprocessor (75%), limited by registers."
std::string occupancy_words(const KernelShape& shape, const Gpu& gpu);

/// The figures next to a source line: averages over the requests of all warps that executed the line.
struct LineSummary {
    int line = 0;
    double heat = 0;  // memory time: sectors, passes and clashes, relative to the line with the most
    std::uint64_t requests = 0;
    double lanes = 0;                               // active lanes, of 32
    std::optional<double> sectors, fewest_sectors;  // sectors of device memory
    std::optional<double> passes;   // shared memory: passes over its banks; constants: different addresses
    std::optional<double> clashes;  // for atomics: lanes that update the same address

    bool few_lanes() const { return lanes < 16; }
    bool many_sectors() const { return sectors && *sectors >= 2 * *fewest_sectors; }
    bool many_passes() const { return passes && *passes >= 2; }
    bool many_clashes() const { return clashes && *clashes >= 4; }
};

/// Return a counter's value, summed over all kernels; 0 if there were no such accesses. The counters are: device_bytes
/// divided by the minimum; the bytes that threads individually load from and store to device memory, divided by the
/// minimum; their loads and stores per 16 bytes; atomics on device memory per block; sectors divided by their minimum;
/// passes per request to shared memory; the share of idle lanes in these requests.
double counter_value(Counter counter, const Counted& counted);

/// A stage's limit, and the counted value.
struct LimitOutcome {
    CounterLimit limit;
    double value = 0;
    bool held() const { return value <= limit.at_most; }
};

/// Compare the counts with the stage's limits for the datasets that were counted.
std::vector<LimitOutcome> compare_with_limits(const Stage& stage, const std::vector<Counted>& datasets);

/// Return whether grid and block may be swapped in a launch: a kernel's block size depends on the dataset, or its grid
/// size is the same for all datasets and could be a block size.
bool may_be_swapped(const std::vector<Counted>& datasets);

/// Describe an exceeded limit: "Technique not used, or needless work: 1024 atomics on device memory for each block on
/// noise, where at most 256 are expected. This stage is about bins in shared memory."
std::string limit_words(const LimitOutcome& outcome);

/// Return the summaries, sorted by line.
std::vector<LineSummary> summarise_lines(const std::vector<LineCounts>& counts);

}  // namespace warplab
