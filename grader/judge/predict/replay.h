#pragma once
// Replays the traced warps of a launch on one multiprocessor of a GPU. Warps issue their operations in order and wait
// for the results that they need. Every part of the multiprocessor, and its share of the L2 and of the memory, serves
// one operation at a time, with its own rate and latency.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "grader/judge/predict/code.h"
#include "grader/judge/predict/machine.h"
#include "grader/judge/predict/trace_reader.h"

namespace warplab::predict {

/// The parts of a multiprocessor that operations wait for.
enum class Resource { memory, l2, shared_memory, atomics, issue, fp64, special };
inline constexpr std::size_t resource_count = 7;
const char* resource_name(Resource resource);

/// Clocks for which each resource of a multiprocessor is busy.
using Busy = std::array<double, resource_count>;

/// The reasons why a line of code costs more than its work needs.
enum class Waste { bank_conflicts, scattered_access, contention, double_precision };
/// A change of the code that removes a line's waste.
struct Change {
    Waste waste;
    int line;
    auto operator<=>(const Change&) const = default;
};

struct KernelTime {
    double clocks = 0;
    Busy busy = {};
    std::map<int, Busy> busy_of_line;      // by line of the student's file
    std::map<int, double> clocks_of_line;  // the time that the replayed warps spend in a line, waiting included
    std::map<Change, double> wasted;       // clocks for which a resource is busy, but would not be after the change
    int blocks_at_once = 1, threads_per_block = 0;  // on a multiprocessor
};

/// The contents of the L2.
struct Residency {
    std::vector<double> bytes;  // how much of each memory of the trace it holds
    int launches = 0;           // replayed so far
};

/// Replay one launch, and update `residency`. `registers`: per thread. `change`: a change of the code; null to replay
/// it unchanged.
KernelTime replay(const Machine& machine, const Trace& trace, const TracedLaunch& launch, const Code& code,
                  int registers, Residency& residency, const Change* change);

}  // namespace warplab::predict
