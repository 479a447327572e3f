#pragma once
// Everything that the sanitizer reports about a file, and the format in which `make inspect` stores it.

#include <string>
#include <vector>

#include "grader/common/json.h"
#include "grader/judge/sanitizer/counters.h"
#include "grader/judge/sanitizer/findings.h"

namespace warplab {

struct Inspection {
    std::string lab, stage, file;
    std::vector<std::string> source;  // the file's lines
    const Gpu& gpu;
    std::vector<Counted> datasets = {};
    Counted all = {};
    std::vector<Discovery> findings = {};
    std::vector<LineCounts> counts = {};
    std::vector<KernelShape> kernels = {};
    std::vector<LineSummary> lines = {};
    std::vector<LimitOutcome> limits = {};
    bool passed = false;
    std::string wrong = {}, wrong_hint = {};  // where the answers are wrong, and what to try
};

/// The output of `inspect --json`, which grader/python/journal/inspection.py reads, schema 1; tests/labs/test_inspect.py
/// checks the keys. "counts" are sums over the requests of all warps that were inspected.
Json to_json(const Inspection& found);

}  // namespace warplab
