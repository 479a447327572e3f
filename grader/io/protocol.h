#pragma once
// The protocol between judge and runner: fixed-size packets (channel.h). The judge sends requests, and the runner
// answers each once. The judge checks every field of an answer and trusts none of them. The runner sends each finding
// of the sanitizer (status_page.h) when it occurs, before its answer.

#include <cstdint>

#include "grader/io/status_page.h"

namespace warplab::protocol {

inline constexpr std::uint32_t version = 4;
inline constexpr std::uint32_t magic = 0x57415250;  // "WARP"
inline constexpr int request_fd = 3;                // the runner's descriptor from which it reads requests
inline constexpr int status_fd = 4;                 // the descriptor of the runner's StatusPage
inline constexpr int answer_fd = 5;                 // the descriptor to which the runner writes answers and findings
inline constexpr int trace_fd = 6;                  // the descriptor of the trace, if one is requested
inline constexpr int max_sizes = 16, max_reals = 256, max_buffers = static_cast<int>(warplab::max_buffers);

enum class Ask : std::uint32_t { hello = 1, prepare = 2, open = 3, run = 4, quit = 5 };

/// The location of a buffer's bytes.
enum class Transport : std::uint32_t {
    none = 0,
    device = 1,  // GPU memory that the judge owns, exported as a descriptor
    shared = 2,  // a memory file that judge and runner map: device memory of the CPU backend, or host memory
    local = 3,   // a memory file as for shared, copied to and from separate memory of the runner at every run, so that
                 // compute-sanitizer and ncu see exact allocations; never used for grading
};

struct Buffer {
    std::uint32_t transport;
    std::uint32_t is_input;     // holds data before a call
    std::uint32_t is_constant;  // an input that the call must not write
    std::uint32_t reserved;
    std::uint64_t mapped_bytes;  // the size of the whole allocation
    std::uint64_t offset;        // from the beginning of the allocation to slot 0
    std::uint64_t stride;        // from the beginning of a slot to that of the next
    std::uint64_t bytes;         // the size of a slot without its guard zones
};

/// A comment that begins with `prepare:`, `open:` or `run:` describes a field that only requests of these kinds, or the
/// answers to them, use.
struct Request {
    std::uint32_t magic, version;
    Ask ask;
    std::uint32_t host_variant;  // prepare, open, run: call <lab>_host, with host pointers
    std::int64_t sizes[max_sizes];
    double reals[max_reals];
    // open: the buffers of the manifest, then scratch; the descriptors of those that need one arrive in this order
    std::uint32_t buffer_count;
    Buffer buffers[max_buffers + 1];
    // run: calls on slots first_slot … first_slot + calls - 1
    std::uint32_t first_slot, calls;
    std::uint64_t host_bytes_limit;  // run: the maximum number of device-to-host bytes per call
    std::uint32_t thread_order;      // run: on the CPU backend, 0 forward, 1 backward
    std::uint32_t timed;             // run: measure with events, and make no diagnostics that cost time
    std::uint32_t counts_requests;   // prepare: the sanitizer also counts the dataset's requests to memory
    std::uint32_t multiprocessors;   // prepare: the number that the CPU backend reports
};

struct Answer {
    std::uint32_t magic, version;
    Ask ask;
    std::uint32_t ok;             // 0: `message` says what failed
    std::int32_t cuda_error;      // the error of the call that failed, or 0
    std::uint32_t has_host;       // prepare: whether the submission defines <lab>_host
    std::uint64_t scratch_bytes;  // prepare: the size of the scratch buffer that the submission requests
    double event_s;               // run: between events around timed calls; otherwise 0
    double wall_s;                // run: the time of all calls
    std::uint64_t host_bytes;     // run: the device-to-host bytes of all calls together
    std::uint64_t launches;       // run: kernels launched
    std::int64_t leaked_bytes;    // run: device bytes allocated by the calls and not freed
    Observations observed;        // run: of the last call
    char message[512];
    std::uint64_t seal;  // seal.h
};

}  // namespace warplab::protocol
