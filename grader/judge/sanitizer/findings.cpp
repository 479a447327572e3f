#include "grader/judge/sanitizer/findings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/run/source_lines.h"
#include "grader/judge/sanitizer/finding_words.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

SourceLines find_lines(const StageRun& run, const std::vector<std::uint64_t>& program_counters) {
    SourceLines lines;
    for (const auto& [program_counter, place] : find_source_lines(run.runner, run.policy, program_counters))
        lines[program_counter] = std::atoi(place.c_str() + place.rfind(':') + 1);
    return lines;
}

/// Drop findings that are consequences of another finding on the same line. A line with a race may also read too early,
/// read while an atomic updates, or write a value that is already there. A line with a wrong mask may also lack a lane.
/// A line with an index beyond its array may access anything there.
void drop_consequences(std::vector<Finding>& all) {
    std::set<int> racing, masked, beyond;
    for (const Finding& f : all) {
        if (f.cause == cause::out_of_bounds) beyond.insert(f.line);
        if (f.cause == cause::race || f.cause == cause::atomic_race) racing.insert({f.line, f.other_line});
        if (f.cause == cause::lane_mask) masked.insert(f.line);
    }
    std::erase_if(all, [&](const Finding& f) {
        const bool caused_by_index = f.cause == cause::race || f.cause == cause::same_value ||
                                     f.cause == cause::host_memory || f.cause == cause::unset_constant;
        const bool caused_by_race =
            f.cause == cause::uninitialised || f.cause == cause::beside_atomic || f.cause == cause::same_value;
        if (caused_by_index && f.line > 0 && beyond.contains(f.line)) return true;
        return (caused_by_race && f.line > 0 && racing.contains(f.line)) ||
               (f.cause == cause::absent_lane && masked.contains(f.line));
    });
}

bool is_race(const Finding& f) { return f.cause == cause::race || f.cause == cause::atomic_race; }

/// Sort notes last. If there is an access out of bounds, sort races directly before the notes, because the access may
/// have caused all of them.
void sort_by_likelihood(std::vector<Finding>& all) {
    const bool has_out_of_bounds =
        std::ranges::any_of(all, [](const auto& f) { return f.cause == cause::out_of_bounds; });
    const auto rank = [&](const Finding& f) { return f.note ? 2 : has_out_of_bounds && is_race(f) ? 1 : 0; };
    std::ranges::stable_sort(all, [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
}

/// Move writes out of bounds before the first read of unwritten memory: they may have been meant for that memory, or
/// overwrite what decides where to read. `lines`: the lines of these writes.
void sort_writes_before_reads(std::vector<Finding>& all, const std::set<int>& lines) {
    const auto first_read = std::ranges::find_if(all, [](const Finding& f) { return f.cause == cause::uninitialised; });
    std::stable_partition(first_read, all.end(), [&](const Finding& f) {
        return f.cause == cause::out_of_bounds && f.line > 0 && lines.contains(f.line);
    });
}

std::string quote_source(const std::string& text, int number) {
    const std::string line = compilation::source_line(text, number);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return shorten(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first), max_quoted_bytes);
}

}  // namespace

std::vector<Finding> explain_findings(const StageRun& run, const Source& source,
                                      const std::vector<RawFinding>& findings, bool outputs_right) {
    if (findings.empty()) return {};
    std::vector<std::uint64_t> program_counters;
    for (const RawFinding& finding : findings)
        for (const FindingSide* side : {&finding.now, &finding.before})
            if (side->program_counter) program_counters.push_back(side->program_counter);
    program_counters.insert(program_counters.end(), run.guards.begin(), run.guards.end());
    auto all =
        describe_findings(run.lab.buffers, find_lines(run, program_counters), source.text(), run.guards, findings);
    if (outputs_right) {
        std::erase_if(all, matters_if_wrong);
        for (Finding& f : all)
            if (f.cause == cause::return_before_barrier) f = returned_and_ended(f);
        sort_by_likelihood(all);
    }
    return all;
}

std::vector<Finding> describe_findings(const std::vector<BufferSpec>& buffers, const SourceLines& lines,
                                       const std::string& text, const std::set<std::uint64_t>& guards,
                                       const std::vector<RawFinding>& findings) {
    const auto line_of = [&](const FindingSide& side) {
        const auto at = lines.find(side.program_counter);
        return at == lines.end() ? 0 : at->second;
    };
    std::set<int> guard_lines;
    for (const std::uint64_t guard : guards)
        if (lines.contains(guard)) guard_lines.insert(lines.at(guard));
    std::vector<Finding> all;
    std::set<int> written_out_of_bounds;
    for (RawFinding finding : findings) {
        const FindingSide& read = finding.now.atomic ? finding.before : finding.now;
        const bool only_reads = finding.kind == static_cast<std::uint32_t>(FindingKind::atomic_race) && !read.writes;
        if (only_reads && guard_lines.contains(line_of(read)))
            finding.kind = static_cast<std::uint32_t>(FindingKind::beside_atomic);
        const int line = finding.line > 0 ? finding.line : line_of(finding.now);
        const Description words = describe(buffers, finding, {compilation::source_line(text, line), text});
        if (words.message.empty()) continue;
        if (words.cause == cause::out_of_bounds && finding.now.writes) written_out_of_bounds.insert(line);
        Finding merged;
        merged.cause = words.cause;
        merged.note = words.is_note;
        merged.kernel = kernel_of(finding);
        merged.line = line;
        merged.text = quote_source(text, line);
        merged.other_line = finding.before.program_counter ? line_of(finding.before) : finding.other_line;
        merged.other_text = quote_source(text, merged.other_line);
        merged.count = finding.count;
        if (static_cast<FindingSpace>(finding.space) == FindingSpace::buffer && finding.buffer < buffers.size())
            merged.buffer = buffers[finding.buffer].name;
        merged.message = words.message;
        const bool is_race = merged.cause == cause::race && finding.detail[0] == 0;
        const bool with_itself = is_race && merged.line > 0 && merged.line == merged.other_line;
        merged.hint = with_itself ? hint_for_race_within_line(finding) : words.hint;
        if (const std::string hint = is_race ? hint_for_race_of_all_threads(finding, text) : ""; !hint.empty())
            merged.hint = hint;
        const auto iterator = std::ranges::find_if(all, [&](const Finding& f) {
            const bool is_same = f.line == merged.line && f.other_line == merged.other_line;
            const bool is_swapped = f.line == merged.other_line && f.other_line == merged.line;
            return f.cause == merged.cause && (is_same || is_swapped);
        });
        if (iterator == all.end())
            all.push_back(merged);
        else
            iterator->count += merged.count;
    }
    for (Finding& merged : all)
        if (merged.cause == cause::same_value) count_same_values(merged);
    drop_consequences(all);
    sort_by_likelihood(all);
    sort_writes_before_reads(all, written_out_of_bounds);
    return all;
}

std::vector<LineCounts> add_up_counts(const StageRun& run, const std::vector<AccessCounts>& counts) {
    if (counts.empty()) return {};
    std::vector<std::uint64_t> program_counters;
    for (const AccessCounts& c : counts) program_counters.push_back(c.program_counter);
    return add_up_counts(find_lines(run, program_counters), counts);
}

std::vector<LineCounts> add_up_counts(const SourceLines& lines, const std::vector<AccessCounts>& counts) {
    std::map<std::tuple<std::string, int, MemoryKind, bool>, LineCounts> sums;
    for (const AccessCounts& c : counts) {
        const auto line = lines.find(c.program_counter);
        if (line == lines.end()) continue;
        const std::string kernel = to_printable(std::string(c.kernel, strnlen(c.kernel, sizeof c.kernel)));
        const auto kind = static_cast<MemoryKind>(c.kind);
        LineCounts& sum = sums[{kernel, line->second, kind, c.atomic != 0}];
        sum.kernel = kernel;
        sum.line = line->second;
        sum.kind = kind;
        sum.atomic = c.atomic != 0;
        sum.all += c;
        if (c.writes && !c.atomic) sum.stores += c;
    }
    std::vector<LineCounts> all;
    for (auto& [key, sum] : sums) all.push_back(std::move(sum));
    return all;
}

}  // namespace warplab
