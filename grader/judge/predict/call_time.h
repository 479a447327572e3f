#pragma once
// The modelled time of a call of the contract function on a GPU: its kernels, and what the host does between them.

#include <map>
#include <string>
#include <vector>

#include "grader/judge/predict/replay.h"

namespace warplab::predict {

inline constexpr int default_registers = 32;  // per thread, if nvcc does not report them

struct CallTime {
    double seconds = 0;         // the time per call in a series of calls
    double kernel_seconds = 0;  // the sum of the times of its kernels
    struct OfKernel {
        double seconds = 0;  // the time of all its launches in the call
        int launches = 0;
        KernelTime last;  // the time of its last launch
    };
    std::map<std::string, OfKernel> kernels;
};

/// Model a call. `registers`: per thread, by kernel; other kernels get the default. `change`: a change of the code;
/// null to model it unchanged.
CallTime time_call(const Machine& machine, const Trace& trace, const Code& code,
                   const std::map<std::string, int>& registers, const Change* change = nullptr);

}  // namespace warplab::predict
