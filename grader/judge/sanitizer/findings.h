#pragma once
// Collects the sanitizer's findings: one Finding for each line and kind, however often it occurred.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/io/status_page.h"
#include "grader/judge/check/check.h"
#include "grader/judge/compile/source.h"
#include "grader/model/report.h"

namespace warplab {

/// The accesses of one line and kernel, of one kind of memory.
struct LineCounts {
    std::string kernel;
    int line = 0;
    MemoryKind kind = MemoryKind::device;
    bool atomic = false;
    RequestCounts all = {}, stores = {};  // stores: without atomics
};

/// Line numbers in the student's file, by program counter.
using SourceLines = std::map<std::uint64_t, int>;

/// Add up the counts by kernel and line. Counts outside the student's file are omitted.
std::vector<LineCounts> add_up_counts(const StageRun& run, const std::vector<AccessCounts>& counts);
std::vector<LineCounts> add_up_counts(const SourceLines& lines, const std::vector<AccessCounts>& counts);

/// Describe the findings of one compiled file. Their lines are looked up in the file's debug information, within the
/// sandbox, and quoted from `source`. If the outputs are right, findings that only explain wrong outputs are dropped.
std::vector<Finding> explain_findings(const StageRun& run, const Source& source,
                                      const std::vector<RawFinding>& findings, bool outputs_right);
/// Describe all findings if their lines are already known. `buffers`: the lab's; `text`: the file's; `guards`: see
/// StatusPage.
std::vector<Finding> describe_findings(const std::vector<BufferSpec>& buffers, const SourceLines& lines,
                                       const std::string& text, const std::set<std::uint64_t>& guards,
                                       const std::vector<RawFinding>& findings);

}  // namespace warplab
