#pragma once
// All results of the sanitizer for a file, and its inspection, which `make inspect` stores.

#include <string>
#include <vector>

#include "generated/inspection.h"
#include "grader/judge/sanitizer/counts.h"
#include "grader/judge/sanitizer/findings.h"

namespace warplab {

struct Inspected {
    std::string lab, stage, file;
    std::vector<std::string> source;  // the file's lines
    const Gpu& gpu;
    std::vector<Counted> datasets = {};
    Counted all = {};
    std::vector<Finding> findings = {};
    std::vector<LineCounts> counts = {};
    std::vector<KernelShape> kernels = {};
    std::vector<LineSummary> lines = {};
    std::vector<LimitOutcome> limits = {};
    bool passed = false;
    std::string wrong = {}, wrong_cause = {},
                wrong_hint = {};  // the dataset with wrong outputs, the reason, and what to try
};

/// Return the inspection in the format that `inspect --json` writes and grader/python/journal/inspection.py reads.
Inspection describe_inspection(const Inspected& inspected);

}  // namespace warplab
