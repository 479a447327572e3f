#pragma once
// Everything that check mode reports about a file, and the format in which `make inspect` keeps it.

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
    std::string wrong = {}, wrong_hint = {};  // where answers are, and what to try
};

/// What `inspect --json` writes and grader/journal/inspection.py reads, schema 1; tests/labs/test_inspect.py holds the
/// keys. "counts" are sums over the requests of all warps that were looked at.
Json to_json(const Inspection& found);

}  // namespace warplab
