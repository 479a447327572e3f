#pragma once
// The trace of a call: the operations of some blocks' warps, and the host's CUDA calls. grader/judge/predict uses
// the trace to model the call's time on a GPU. The runner appends records to a memory file of the judge, which does not
// trust them.
// The file begins with a seal: a program that only writes into the file cannot forge records.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "grader/io/seal.h"

namespace warplab::trace {

inline constexpr std::size_t max_bytes = std::size_t{256} << 20;  // the maximum size of a trace

inline constexpr std::uint64_t format_version = 1;  // increase it if a record changes

/// The hash of the first `bytes` bytes after the seal, and the version of their format.
struct Seal {
    std::uint64_t version, bytes, hash;
};

/// Add bytes of records, a multiple of 4, to a seal's hash.
inline void add_to_hash(protocol::SipHash& hash, const void* bytes, std::size_t count) {
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= count; at += sizeof(std::uint32_t)) {
        std::uint32_t word;
        std::memcpy(&word, static_cast<const char*>(bytes) + at, sizeof word);
        hash.add(word);
    }
}

/// Return the seal of the `bytes` bytes that were added to `hash`.
inline Seal seal_of(protocol::SipHash hash, std::uint64_t bytes) {
    hash.add(bytes);
    return {format_version, bytes, hash.finish()};
}

enum class RecordKind : std::uint32_t { memory = 1, launch, block, warp, launch_ends, host_call };

/// The beginning of each record. `bytes` more bytes follow, a multiple of 4.
struct Header {
    RecordKind kind;
    std::uint32_t bytes;
};

enum class MemoryRole : std::uint32_t { allocation = 0, lab_buffer = 1, variable = 2, constant = 3 };

/// An allocation, buffer or variable in device memory. The trace has its own addresses, in which every Memory begins at
/// a multiple of 4096.
struct Memory {
    std::uint64_t begin, bytes;
    MemoryRole role;
    std::uint32_t unused = 0;
};

struct Launch {
    char kernel[64];
    std::uint32_t grid[3], block[3];
    std::uint32_t dynamic_shared_bytes;
    // 1: no block was recorded, because an earlier launch had the same kernel and sizes, or the trace was full
    std::uint32_t repeats;
};

/// A sampled block, whose warps follow, and the number of its threads' events. Only events up to a limit are recorded.
struct Block {
    std::uint64_t events, recorded;
};

/// A warp of the block. Its operations follow.
struct Warp {
    std::uint32_t operations;
};

/// The kind of a warp's operation. A comment lists the words that follow. A lane's word is its address divided by 4.
enum class OperationKind : std::uint8_t {
    basic_block = 0,
    device_read,    // followed by the sectors (of 32 bytes), and the passes over the banks of the L1
    device_write,   // the same
    device_atomic,  // followed by the sectors; for each sector, its maximum number of lanes at one address << 16 | its
                    // number of lanes; and each lane's word
    shared_read,    // followed by the passes over the banks
    shared_write,   // the same
    shared_atomic,  // followed by the passes, the maximum number of lanes at one address, and each lane's word
    constant_read,  // followed by the number of addresses
    barrier,
    warp_function,
    fence
};

struct Operation {
    std::uint32_t place;  // return address of the hook, relative to the beginning of the executable
    OperationKind kind : 4;
    std::uint32_t lanes : 6;
    std::uint32_t words : 10;      // the number of 4-byte words that follow
    std::uint32_t lane_bytes : 8;  // the bytes that each lane accesses
};

/// Counts the steps (basic blocks and accesses) of the threads of complete blocks, separately for the recorded blocks
/// and for some other blocks. The judge compares the two counts.
struct LaunchEnds {
    std::uint32_t static_shared_bytes;
    std::uint32_t recorded_blocks = 0, other_blocks = 0, unused = 0;
    std::uint64_t recorded_steps = 0, other_steps = 0;
    std::uint64_t max_steps = 0;  // the maximum for one of the other blocks
};

enum class HostCallKind : std::uint32_t { fill = 1, copy, wait, allocate, free };

struct HostCall {
    HostCallKind kind;
    std::uint32_t host_waits = 0;                     // for a copy or fill: whether the host waits for it
    std::uint64_t written_bytes = 0, read_bytes = 0;  // bytes of device memory
};

/// The judge's order for a trace: the GPU to imitate, and how to draw blocks. If all fields are 0, nothing is recorded.
struct Order {
    std::uint32_t multiprocessors;
    std::uint32_t seed;
    std::uint64_t l2_bytes;
    std::uint64_t calls_before;  // the number of calls before the recorded call; their blocks do not run
    protocol::Key key;           // of the seal
};

}  // namespace warplab::trace
