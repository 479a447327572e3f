#include "grader/cpu/runtime/findings.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <tuple>

#include "grader/cpu/control.h"
#include "grader/cpu/runtime/fault.h"

namespace warplab_cpu {
namespace {

using warplab::FindingKind;
using warplab::RawFinding;

const char* name_of(FindingKind kind) {
    switch (kind) {
        case FindingKind::out_of_bounds:
            return "out_of_bounds";
        case FindingKind::use_after_free:
            return "use_after_free";
        case FindingKind::uninitialised:
            return "uninitialised";
        case FindingKind::race:
            return "race";
        case FindingKind::atomic_race:
            return "atomic_race";
        case FindingKind::divergent_barrier:
            return "divergent_barrier";
        case FindingKind::unfinished:
        case FindingKind::unfinished_async:
        case FindingKind::unjoined:
        case FindingKind::unordered_nodes:
            return "unfinished";
        case FindingKind::return_before_barrier:
            return "return_before_barrier";
        case FindingKind::misaligned:
            return "misaligned";
        case FindingKind::host_memory:
            return "host_memory";
        case FindingKind::beside_atomic:
            return "note";
        case FindingKind::same_value:
            return "same_value";
        case FindingKind::beyond_vector:
            return "beyond_vector";
        case FindingKind::leak:
            return "leak";
        case FindingKind::not_destroyed:
            return "not_destroyed";
        case FindingKind::copy_direction:
        case FindingKind::copy_of_freed:
        case FindingKind::copy_of_host_variable:
        case FindingKind::copy_by_name:
            return "copy_direction";
        case FindingKind::copy_size:
        case FindingKind::copy_beyond_variable:
        case FindingKind::copy_at_direction:
        case FindingKind::copy_beyond_heap:
            return "copy_size";
        case FindingKind::device_memory:
            return "device_memory";
        case FindingKind::failed_launch:
            return "failed_launch";
        case FindingKind::lane_mask:
            return "lane_mask";
        case FindingKind::absent_lane:
            return "absent_lane";
        case FindingKind::invalid_free:
            return "invalid_free";
        case FindingKind::unset_constant:
            return "unset_constant";
        case FindingKind::kept_value:
            return "kept_value";
        case FindingKind::input_written:
            return "input_written";
        case FindingKind::constant_written:
            return "constant_written";
    }
    return "unknown";
}

/// Print a finding if there is no judge: one line, immediately, because the program may crash.
void print(const RawFinding& f) {
    std::fprintf(stderr,
                 "warplab-finding: %s pc=0x%" PRIx64 " other=0x%" PRIx64
                 " line=%d other_line=%d object=%s kernel=%s %s\n",
                 name_of(static_cast<FindingKind>(f.kind)), f.now.program_counter, f.before.program_counter, f.line,
                 f.other_line, f.object, f.kernel, f.detail);
}

void (*listener)(const RawFinding&);
std::uint32_t recorded = 0, notes = 0;  // separate from the page's count, which the submission can overwrite
std::uint64_t digest = 0;               // a digest of all findings that were sent

/// Return whether findings of this kind count towards max_notes.
bool counts_as_note(std::uint32_t kind) {
    const auto finding_kind = static_cast<FindingKind>(kind);
    return finding_kind == FindingKind::same_value || finding_kind == FindingKind::beside_atomic ||
           finding_kind == FindingKind::return_before_barrier;
}

}  // namespace

void record_finding(const RawFinding& finding, std::uint64_t times) {
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::int32_t, std::int32_t>;
    static auto& indices = *new std::map<Key, std::uint32_t>;
    warplab::StatusPage& page = writable_page();
    const auto [place, is_new] = indices.try_emplace(
        {finding.kind, finding.now.program_counter, finding.before.program_counter, finding.line, finding.other_line},
        recorded);
    if (!is_new) {
        if (place->second < warplab::max_findings) page.findings[place->second].count += times;
        return;
    }
    if (recorded >= warplab::max_findings) return;
    if (counts_as_note(finding.kind) && ++notes > warplab::max_notes) return;
    RawFinding counted = finding;
    counted.count = times;
    page.findings[recorded++] = counted;
    page.finding_count = recorded;
    if (!page_is_read()) print(counted);
    digest = warplab::add_to_findings(digest, counted);
    if (listener) listener(counted);
}

std::uint32_t recorded_findings() { return recorded; }
std::uint64_t digest_of_findings() { return digest; }

void record_guard(std::uint64_t program_counter) {
    warplab::StatusPage& page = writable_page();
    const std::uint64_t *begin = page.guards, *end = begin + page.guard_count;
    if (page.guard_count >= warplab::max_guards || std::find(begin, end, program_counter) != end) return;
    page.guards[page.guard_count++] = program_counter;
    if (!page_is_read()) std::fprintf(stderr, "warplab-guard: pc=0x%" PRIx64 "\n", program_counter);
}

}  // namespace warplab_cpu

void warplab::cpu::send_findings_to(void (*receive)(const RawFinding&)) {
    if (!warplab_cpu::listener) warplab_cpu::listener = receive;
}
