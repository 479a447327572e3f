#pragma once
// The constants of one GPU for the model of its time. They are measured on the GPU or taken from publications, never
// fitted to a lab.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplab::predict {

/// The additional latency of a read from the memory, in clocks, at this share of dram_bytes_per_s.
struct DramLoad {
    double share = 0, clocks = 0;
};

struct Machine {
    std::string name;
    std::string architecture;  // for nvcc: "sm_90"
    std::string source;        // the origin of the constants
    double spread = 2;         // the interval reaches from 1/spread to spread times the modelled time
    /// The limits of the spread of the ratio of two modelled times: the nearer the ratio is to 1, the smaller its
    /// spread.
    double min_ratio_spread = 1.3, max_ratio_spread = 2.5;

    // multiprocessors
    int multiprocessors = 0, threads = 0, blocks = 0, registers = 0;  // per multiprocessor: threads, blocks, registers
    double clock_hz = 0;
    double l1_bytes = 0,
           shared_bytes = 0;  // sizes of one memory: in total, and the part that blocks may use as shared memory
    // memory
    double dram_bytes_per_s = 0, l2_bytes_per_s = 0, l2_bytes = 0;
    double l2_bytes_per_clock = 0;     // for one multiprocessor
    double l2_slice_bytes = 0;         // atomics within this number of neighbouring bytes wait for each other
    double dram_copy_bytes_per_s = 0;  // bytes read and written, if there are as many of both
    /// The additional latency of a read while other threads only read, and while they write as much as they read.
    std::vector<DramLoad> dram_reads, dram_copies;

    /// Latencies in clocks.
    struct {
        double arithmetic, fp64, shared, shared_write, l1, l2, dram, shuffle, barrier, atomic, shared_atomic,
            block_start;    // from the start of a block to the end of its minimum work
        double warp_start;  // from the start of a warp to that of the next one of its block
    } latency = {};

    /// The clocks for which one operation of a warp occupies its resource.
    struct {
        double fp64, shuffle, tag, shared_atomic, atomic, atomic_lane;
        double atomic_result;   // as `atomic`, if the lane needs the old value
        double sector;          // a sector of the L2, if no other sector of its line is read
        double slice_read;      // a read of one sector, at the slice of the L2 that holds it
        double partial_line;    // the additional clocks of a line if a store changes only parts of its sectors
        double changed_sector;  // the additional clocks of a sector that an atomic of this launch has changed
        double block;           // the start of a block
    } occupies = {};

    /// Seconds of the host and of the work around a kernel. gap: from an empty kernel's start to that of the next one.
    struct {
        double launch, gap, start, copy_to_host, copy_to_device, fill, allocate, wait;
        double link_bytes_per_s;
    } host = {};
};

/// Return the name of the GPU that a course models unless another one is requested: the word in the file `default`.
std::string default_machine(const std::filesystem::path& folder);

/// Return the names of the GPUs that the model knows: the files of `folder`, without ".json".
std::vector<std::string> known_machines(const std::filesystem::path& folder);

/// Read a GPU's constants. Throws UsageError with the known names if there is no such GPU, or with the field if the
/// file lacks one.
Machine read_machine(const std::filesystem::path& folder, const std::string& name);

}  // namespace warplab::predict
