#pragma once
// The modelled time of a stage on a GPU that is not here.

#include <filesystem>
#include <optional>
#include <string>

#include "grader/judge/judge.h"
#include "grader/judge/predict/call_time.h"

namespace warplab::predict {

struct Prediction {
    CallTime time;
    double iterations = 1;           // of the call
    int unmatched = 0;               // functions whose intermediate code does not match the program
    std::string why_not;             // why there is no time; empty if there is one
    std::optional<Failure> failure;  // of the submission
};

/// Trace one call on a dataset and model its time.
Prediction predict(Judge& judge, const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                   const Dataset& dataset, const Machine& machine, SandboxLevel sandbox);

}  // namespace warplab::predict
