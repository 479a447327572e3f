#pragma once
// The part of each device memory that a launch accesses, estimated from its sampled blocks.

#include <cstdint>
#include <vector>

#include "grader/judge/predict/machine.h"
#include "grader/judge/predict/trace_reader.h"

namespace warplab::predict {

inline constexpr double sector_bytes = 32;

/// Return the number of the memory that a sector belongs to; -1 if there is none.
int memory_of(const Trace& trace, std::uint32_t sector);

struct Footprint {
    double of_block = 0;     // sectors that a block touches
    double accesses = 0;     // a block's accesses to sectors of the memory
    double of_launch = 0;    // sectors that all blocks touch
    double first_touch = 1;  // the share of a block's sectors that no other block has touched before
    double sharers = 1;      // multiprocessors that use a sector at the same time
    double loaded = 1;       // sectors that the memory reads for each one that is needed: it reads pairs
    double working_set = 0;  // sectors that the blocks that run at the same time use repeatedly
};

/// Return the footprint in each memory. `blocks_at_once`: on the whole GPU.
std::vector<Footprint> footprints_of(const Trace& trace, const TracedLaunch& launch, double multiprocessors,
                                     double blocks_at_once);

}  // namespace warplab::predict
