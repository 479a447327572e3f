#pragma once
// A page of memory that the judge and the runner share. The judge writes its orders to the page, and reads what the
// runner does or did when it ended. The page is untrusted: it can make a message more precise, but never change a
// verdict to passed.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "grader/io/trace.h"

namespace warplab {

enum class Fault : std::uint32_t {
    none = 0,
    segmentation = 1,  // `address` is set, as for null_pointer and misaligned
    stack_overflow = 2,
    deadlock = 3,              // threads of a block wait at a barrier that others never reach
    illegal_address = 4,       // a copy or launch got a pointer to memory on the wrong side
    arithmetic = 5,            // for example, an integer was divided by zero
    aborted = 6,               // by abort(), assert() or the C library
    exited = 7,                // exit() called by the student's code
    host_limit = 8,            // more was copied to the host than is allowed
    hang = 9,                  // the running blocks only repeat steps that change nothing; no other blocks are left
    hang_before_later = 10,    // the same, but other blocks of the grid start later
    hang_before_earlier = 11,  // the same, but blocks with a smaller blockIdx start later (backward block order)
    null_pointer = 12,
    misaligned = 13,
    unset_pointer = 14,    // a pointer holds the pattern of variables that were never set
    wrong_free = 15,       // free() of memory that is not from the heap; detail names its owner
    too_much_shared = 16,  // too many bytes of static __shared__ variables
    refused = 17,          // the runtime cannot continue; detail has the reason
    host_memory = 18,      // a kernel used a host pointer
    illegal_instruction = 19,
    missing_return = 20,  // a function that returns a value reached its end; detail has its first line
    no_memory = 21,       // the machine has too little memory; detail says for what it was needed
    overwritten = 22,     // a kernel overwrote its own local variables: its thread's number is not in the block
    past_earlier = 23     // like segmentation, just past the end of memory that was allocated before this call
};

enum class Phase : std::uint32_t { start = 0, ready = 1, prepare = 2, call = 3, idle = 4 };

/// The sanitizer's findings. The numbers are part of the protocol between runner and judge.
enum class FindingKind : std::uint32_t {
    out_of_bounds = 1,
    use_after_free = 2,
    uninitialised = 3,
    race = 4,         // two plain accesses, one of them a write, without a barrier in between
    atomic_race = 5,  // a plain write and an atomic
    divergent_barrier = 6,
    return_before_barrier = 7,
    misaligned = 8,
    host_memory = 9,     // a kernel uses a host pointer
    beside_atomic = 10,  // note: a plain read and an atomic
    same_value = 11,     // note: plain writes of the same value by two threads
    leak = 12,           // memory that a call does not free
    copy_direction = 13,
    copy_size = 14,
    device_memory = 15,     // the host uses a device pointer
    failed_launch = 16,     // a launch failed, and the program did not check for the error
    lane_mask = 17,         // a warp function's mask lacks a calling lane, or names a lane that never arrives
    absent_lane = 18,       // note: a shuffle takes the value of a lane that does not take part
    invalid_free = 19,      // a free of memory that was never allocated, or is already freed
    unset_constant = 20,    // note: a read of a constant to which nothing was copied
    input_written = 21,     // a write to an input of the lab, even if the input is restored later
    constant_written = 23,  // a kernel wrote a constant
    unfinished = 22,        // an access to memory that earlier work (detail) may still use: nothing waits for that work
    unfinished_async = 24,  // an access to memory that an asynchronous copy of the kernel may still use
    // copy_direction, where the reason is known:
    copy_of_freed = 25,
    copy_of_host_variable = 26,  // a host variable passed where a device symbol is required
    copy_by_name = 27,           // cudaMemcpy with the name of a device variable as a pointer
    kept_value = 28,             // note: a device variable's value from an earlier call (detail)
    unjoined = 29,               // work (detail) in a stream that nothing waits for when the function returns
    not_destroyed = 30,          // a stream or event that each call creates (object) and no call destroys (detail)
    beyond_vector = 31,          // an access or a copy (object, detail) of the host beyond the size of a std::vector
    unordered_nodes = 32,        // like `unfinished`, for two nodes of one graph
    copy_beyond_variable = 33,   // like `copy_size`, from or to a variable of the host
    copy_at_direction = 34,      // like `copy_size`, for a symbol whose offset is the value of a direction
    copy_beyond_heap = 35        // like `copy_size`, from or to memory of the host's heap
};

/// The limit that a refused launch exceeds.
enum class LaunchLimit : std::uint32_t {
    none = 0,
    empty = 1,          // the grid has no block, or the block no thread
    threads = 2,        // the threads of a block
    threads_in_z = 3,   // the z extent of a block
    blocks = 4,         // the x, y or z extent of the grid
    launch_bounds = 5,  // the kernel's __launch_bounds__
    shared = 6,         // the shared memory that the kernel may use: 48 KB, unless cudaFuncSetAttribute allows more
    max_shared = 7,     // the maximum shared memory of a block
    blocks_at_once = 8  // the blocks of a cooperative launch, which all run at once
};

/// The kind of the object for which an access was meant. Without an object, offset is the address.
enum class FindingSpace : std::uint32_t {
    none = 0,
    buffer = 1,
    allocation = 2,
    variable = 3,
    shared = 4,
    dynamic_shared = 5,
    declared = 6  // an array whose type is the finding's detail: offset is the index, width the column of its bracket
};

/// One access of a finding.
struct FindingSide {
    std::uint64_t program_counter;  // relative to the executable's load address; 0 = there is none
    std::uint32_t thread[3], block[3];
    std::uint32_t writes, atomic;
};

struct RawFinding {
    std::uint32_t kind, space;
    std::uint64_t count;
    FindingSide now, before;                 // before: the other access of a race, or the place where others wait
    std::int64_t offset;                     // bytes from the object's beginning to the access
    std::uint64_t bytes;                     // the object's size
    std::uint32_t width;                     // the access's size in bytes
    std::uint32_t buffer;                    // the index of the judge's buffer
    std::uint32_t threads, threads_missing;  // the number of the block's threads, and of those that had returned
    std::uint32_t other_width;  // the width of `before`, if both are atomics and their widths differ; else 0
    std::uint32_t limit;        // the limit that a failed launch exceeds, as LaunchLimit
    std::int32_t line;          // a line of the student's file; 0: see program_counter
    std::int32_t other_line;    // the same for `before`, for earlier work, or for the allocation of the object
    char object[48];            // the name of a variable or a CUDA function
    char kernel[64];
    char detail[112];                               // further text
    std::int32_t launch_line;                       // the launch of the kernel; 0: unknown
    std::uint32_t launch_grid[3], launch_block[3];  // its <<<grid, block>>>
    std::uint32_t passed_outside;                   // 1: a parameter of the kernel points beyond the object's end
    std::int64_t passed_offset;                     // bytes from the object's beginning to where it points
    // A read of unwritten memory of which an earlier kernel (detail) has written parts: its launch, the number of
    // elements in the first part, and the distance to the next part of the same length; 0 if there are no such parts.
    std::int32_t writer_line;
    std::uint32_t writer_block[3], written, written_distance;
};
static_assert(std::has_unique_object_representations_v<RawFinding>);
inline constexpr std::uint32_t max_findings = 48, max_guards = 64;
inline constexpr std::uint32_t max_notes = max_findings / 2;  // leaves room for the other findings

/// Return the digest of all findings that a process has sent (FNV-1a): `digest` is that of the earlier ones.
inline std::uint64_t add_to_findings(std::uint64_t digest, const RawFinding& finding) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&finding);
    for (std::size_t i = 0; i < sizeof finding; ++i) digest = (digest ^ bytes[i]) * 0x100000001b3u;
    return digest;
}

/// The cost of accesses on a GPU, counted by the sanitizer. A request is an access that a warp's lanes make together.
struct RequestCounts {
    std::uint64_t requests, lanes;
    std::uint64_t sectors, fewest_sectors;  // 32-byte sectors of device memory; fewest: the minimum for these bytes
    std::uint64_t bank_passes;              // passes over shared memory and constants; the minimum is one per request
    std::uint64_t same_address;  // for atomics: the sum of each request's maximum number of lanes at one address

    void operator+=(const RequestCounts& more) {
        requests += more.requests;
        lanes += more.lanes;
        sectors += more.sectors;
        fewest_sectors += more.fewest_sectors;
        bank_passes += more.bank_passes;
        same_address += more.same_address;
    }
};

/// The requests of one place in the code.
struct AccessCounts : RequestCounts {
    std::uint64_t program_counter;  // relative to the executable's load address
    std::uint64_t accesses;  // accesses of single threads in all blocks; requests are counted only in some blocks
    std::uint32_t width, writes, atomic, kind;
    char kernel[64];
};
enum class MemoryKind : std::uint32_t { device = 0, shared = 1, constant = 2 };
inline constexpr std::uint32_t max_places = 160;

/// The launches of a kernel with the same block size and shared memory, counted by the sanitizer.
struct LaunchCounts {
    std::uint64_t launches, blocks;  // blocks: of all launches
    std::uint64_t static_shared_bytes, dynamic_shared_bytes;
    std::uint32_t block[3], grid[3];  // grid: the largest
    char kernel[64];
};
inline constexpr std::uint32_t max_shapes = 32;

/// One launch of a kernel, as <<<blocks, threads>>>.
struct LaunchSize {
    std::uint64_t call;               // the number of the call that made the launch
    std::int32_t line;                // a line of the student's file; 0: unknown
    std::uint32_t grid[3], block[3];  // blocks of the grid, threads of a block

    double threads() const {  // a double, because the product of six untrusted values may exceed an integer
        double product = 1;
        for (int i = 0; i < 3; ++i) product = product * grid[i] * block[i];
        return product;
    }
};

inline constexpr std::uint32_t max_buffers = 16;  // the maximum per lab

/// The CPU backend's observations of one call. Without the sanitizer, there are no findings, and the bytes are 0.
struct Observations {
    std::uint64_t findings;           // digest of all findings that the process has sent so far: add_to_findings()
    std::uint32_t finding_count;      // the number of these findings
    std::uint32_t replaced_handlers;  // the number of times that the runtime's signal handlers were replaced
    std::uint64_t launch_digest;      // a digest of the different launches: kernel, grid, block, shared memory
    std::uint64_t read_bytes[max_buffers], written_bytes[max_buffers];  // per buffer; each byte counts once
};

/// The judge's orders to the runner, which reads and erases them before any code of the submission runs.
struct Orders {
    std::uint64_t key[2];    // seals answers (seal.h)
    std::uint64_t sanitize;  // 1: the sanitizer is on
    trace::Order trace;
};

inline constexpr std::uint32_t unknown_thread = ~0u;

struct StatusPage {
    Orders orders;  // at the beginning of the page, where the judge writes them
    std::uint32_t phase;
    std::uint32_t fault;
    std::uint64_t calls;            // the number of contract calls that have begun
    std::uint64_t launches;         // kernels launched since the process began
    char kernel[128];               // the kernel launched last
    std::int32_t launch_line;       // a line of the student's file; 0: unknown
    std::uint32_t launch_block[3];  // the threads of a block of the last launch
    std::uint32_t call_launches;    // kernels launched since the current call began
    LaunchSize largest_launch;      // the launch with the most threads of the last call that launched anything
    std::uint32_t block[3];         // where the fault was, if inside a kernel
    std::uint32_t thread[3];        // unknown_thread in a kernel that is split at its barriers
    std::uint32_t in_kernel;        // a kernel runs, or the fault was inside one
    std::uint64_t address;          // the address that faulted
    std::uint64_t program_counter;  // relative to the executable's load address
    char detail[512];               // further text, zero-terminated: "96 of 256 threads wait at line 31, 160 returned"
    std::uint32_t early_exits;      // blocks in which threads returned before a barrier at which others waited
    std::uint32_t finding_count;
    RawFinding findings[max_findings];
    std::uint32_t guard_count;   // guards: places that read a word and then update it by an atomic (if (bin < 255) …)
    std::uint32_t launch_limit;  // LaunchLimit, if `detail` is about a launch that was refused
    std::uint64_t guards[max_guards];  // on a guard's line, an atomic_race of a plain read with an atomic is a note
    std::uint32_t place_count;
    std::uint32_t blocks_ended;  // since the process began, modulo 2^32
    AccessCounts places[max_places];
    std::uint32_t shape_count;
    LaunchCounts shapes[max_shapes];
};

}  // namespace warplab
