#pragma once
// Computes how many threads of a kernel fit on a multiprocessor of a real GPU at the same time, and what limits that
// number. Needs no GPU.

#include <string>

namespace warplab {

/// A GPU's limits for each multiprocessor, in bytes and in registers of 32 bits.
struct Gpu {
    const char* name;
    int major, minor;  // compute capability
    int multiprocessors;
    int threads, blocks, registers, shared_bytes;
    int shared_bytes_per_block;  // the maximum on request

    std::string architecture() const;  // "sm_90"
};

/// Return the GPU of this name; spelling variants such as "rtx3080" and "NVIDIA H200" are accepted. Throws UsageError
/// with the available names if there is none.
const Gpu& find_gpu(const std::string& name);

/// Return the machine's own GPU if it is in the table, otherwise the GPU on which the labs were measured.
const Gpu& default_gpu();

struct Occupancy {
    int blocks = 0, threads = 0;  // resident on a multiprocessor at once; 0: the launch would fail
    double share = 0;             // the fraction of the maximum number of threads
    std::string limit;            // "registers", "shared memory", "the number of blocks", "threads"
};

/// Compute the occupancy. `shared_bytes`: static and dynamic, for a block. `registers`: for a thread; 0 if unknown, in
/// which case they limit nothing.
Occupancy occupancy(const Gpu& gpu, int threads_per_block, long long shared_bytes, int registers);

}  // namespace warplab
