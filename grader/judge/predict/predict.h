#pragma once
// The modelled time of a stage on a GPU that this machine does not have.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/judge.h"
#include "grader/judge/predict/call_time.h"

namespace warplab::predict {

/// One call of a submission on a dataset, with the properties of its code that the model needs.
struct Recording {
    Trace trace = {};
    Code code = Code({}, {});
    std::map<std::string, int> registers = {};  // registers per thread, by kernel; empty without nvcc
    double calls = 0;                           // calls in the whole benchmark
    std::string why_not = {};                   // why there is no recording, in words; empty if there is one
};

/// The resource that limits a kernel, and the kernel's blocks that a multiprocessor runs at once.
struct Limit {
    std::optional<Resource> resource;  // the busiest one; none if it is busy for less than half of the time
    double busy = 0;                   // the share of the time for which the busiest resource is busy
    int line = 0;                      // the line of the student's file that uses it most; 0 if unknown
    int blocks_at_once = 0, threads_per_block = 0;
};

/// A part of the call's time. Parts overlap, because several resources are busy at once.
struct Part {
    std::optional<Resource> resource;  // none: no resource is busy, because all warps wait
    double share = 0;                  // of the whole call
    int line = 0;                      // the line of the student's file that causes most of it; 0 if unknown
};

struct Prediction {
    double seconds = 0;                    // all iterations of the benchmark
    double wait_s = 0;                     // the part of the call outside its kernels, for all iterations
    Limit limit = {};                      // the limit of the kernel that takes longest
    std::vector<Part> parts = {};          // the largest first
    std::map<Change, double> wasted = {};  // share of the kernels' time for which a resource does wasted work
    std::map<int, double> lines = {};      // share of the warps' time, by line of the student's file; 0: unknown
    std::string why_not;                   // why the file is not modelled, in words
};

/// A change of the code that the model tried.
struct Gain {
    Change change;
    double factor;  // the time without the change divided by the time with it
};

/// The times without certain changes, divided by the times with them.
struct Gains {
    std::vector<Gain> of_lines;  // the best first
    double full_occupancy = 1;   // if registers, shared memory and the number of blocks limited no multiprocessor
    double without_host = 1;     // without the part of the call outside its kernels
};

/// Trace one call on a problem, in a sandbox of the given level. Only the blocks that one multiprocessor of `machine`
/// would get are run; each recording draws other blocks.
Recording record(Judge& judge, const Lab& lab, const Stage& stage, const Source& source, const Problem& problem,
                 const Machine& machine, SandboxLevel sandbox);

/// Model the time of a recorded call.
Prediction model(const Recording& recording, const Machine& machine);

/// Return the interval of the ratio of two modelled times of one GPU.
Interval ratio_interval(double ratio, const Machine& machine);

/// Return the changes that save at least a tenth of the time. For each change, the call is replayed without the waste
/// of one line, or with more blocks at once.
Gains try_changes(const Recording& recording, const Machine& machine, const Prediction& unchanged);

}  // namespace warplab::predict
