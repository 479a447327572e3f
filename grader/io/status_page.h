#pragma once
// A page of memory that the runner writes and the judge reads after the runner is gone: where it was when it died.
// Untrusted: it can make a message clearer, never change a verdict to passed.

#include <cstdint>

namespace warplab {

enum class Fault : std::uint32_t {
    none = 0,
    segmentation = 1,  // address holds the place
    stack_overflow = 2,
    deadlock = 3,         // threads of a block wait at a barrier that others never reach
    illegal_address = 4,  // a copy or launch got a pointer of the wrong side
    arithmetic = 5,       // integer division by zero …
    aborted = 6,
    exited = 7,      // exit() called by the student's code
    host_limit = 8,  // copied more to the host than allowed
};

enum class Phase : std::uint32_t { start = 0, ready = 1, prepare = 2, call = 3, idle = 4 };

struct StatusPage {
    std::uint32_t phase;
    std::uint32_t fault;
    std::uint64_t calls;       // contract calls begun
    std::uint64_t launches;    // kernels launched since the process began
    char kernel[128];          // the kernel launched last
    std::int32_t launch_line;  // of the student's file; 0 = unknown
    std::uint32_t block[3];    // where the fault was, if inside a kernel
    std::uint32_t thread[3];
    std::uint32_t in_kernel;        // a kernel runs, or the fault was inside one
    std::uint64_t address;          // the address that faulted
    std::uint64_t program_counter;  // relative to the executable's load address
    char detail[512];               // more words, zero-terminated: "96 of 256 threads wait at line 31, 160 returned"
    std::uint32_t early_exits;      // blocks in which threads returned before a barrier others waited at
};

}  // namespace warplab
