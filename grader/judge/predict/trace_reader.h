#pragma once
// Reads a trace (grader/io/trace.h). The file comes from the submission's process, so everything is checked.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "grader/io/trace.h"

namespace warplab::predict {

struct TracedOperation {
    std::uint32_t place;
    trace::OperationKind kind;
    std::uint8_t lanes, lane_bytes;
    std::span<const std::uint32_t> words;  // grader/io/trace.h defines them

    /// Return the sectors of an access to device memory.
    std::span<const std::uint32_t> sectors() const {
        return words.first(kind == trace::OperationKind::device_atomic ? (words.size() - lanes) / 2 : words.size() - 1);
    }
    /// Return the passes over the banks of an access that is not atomic.
    double passes() const { return words.back(); }
    /// Return the word of each lane of an atomic.
    std::span<const std::uint32_t> lane_words() const { return words.last(lanes); }
};

struct TracedBlock {
    std::uint64_t events = 0, recorded = 0;  // events of its threads, and how many of these were recorded
    std::vector<std::vector<TracedOperation>> warps;
    double weight = 1;  // for how many sampled blocks it stands; the sum of all weights is the number of blocks
};

struct TracedLaunch {
    std::string kernel;
    std::uint64_t blocks = 0;
    unsigned threads = 0;  // threads per block
    std::size_t shared_bytes = 0;
    std::vector<TracedBlock> sampled;
    trace::LaunchEnds ends = {};
    std::size_t same_as = 0;  // the number of the first launch of the same shape, which was recorded
};

struct TracedMemory {
    std::uint64_t begin = 0, bytes = 0;
    trace::MemoryRole role = trace::MemoryRole::allocation;
};

/// A whole call: what the host did, in order.
struct Trace {
    struct LaunchNumber {
        std::size_t number;
    };
    std::vector<std::variant<LaunchNumber, trace::HostCall>> steps;
    std::vector<TracedLaunch> launches;
    std::vector<TracedMemory> memories;  // by address
    std::vector<std::uint32_t> words;    // the words to which the operations refer
};

/// Return the records of a trace's file. Throw std::runtime_error if their seal is wrong.
std::string_view unsealed(std::string_view file, const protocol::Key& key);

/// Return the average steps of the blocks that ran, relative to those of the sampled ones; 1 if only these ran.
double relative_work(const trace::LaunchEnds& ends);

/// Read all records of a trace. Throw std::runtime_error if one is damaged.
Trace read_trace(std::string_view bytes);

}  // namespace warplab::predict
