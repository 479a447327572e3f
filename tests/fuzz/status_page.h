#pragma once
// Fuzzes the results of a run that the student's code can control: the status page, the process's end and its output.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "grader/common/utf8.h"
#include "grader/judge/run/ending.h"
#include "grader/judge/run/inbox.h"
#include "grader/judge/sanitizer/counts.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

template <class Item>
void read_item(Bytes& input, Item& item) {
    input.read(item);
}

/// Read a finding; most findings get a plausible kind, space and width.
inline void read_item(Bytes& input, RawFinding& finding) {
    const bool plausible = input.take<std::uint8_t>() < 240;
    input.read(finding);
    if (!plausible) return;
    finding.kind %= 32;
    finding.space %= 8;
    finding.width %= 32;
}

/// Read the page's head, and for each list the number of its items, the items, and sometimes a count that contradicts
/// that number.
inline StatusPage read_page(Bytes& input) {
    StatusPage page{};
    const auto begin = reinterpret_cast<const char*>(&page), end = reinterpret_cast<const char*>(&page.findings);
    const std::string_view head = input.text(static_cast<std::size_t>(end - begin));
    std::memcpy(static_cast<void*>(&page), head.data(), head.size());
    const auto fill = [&](std::uint32_t& count, auto& list) {
        const std::size_t items = input.take<std::uint8_t>() % (std::size(list) + 1);
        for (std::size_t i = 0; i < items; ++i) read_item(input, list[i]);
        count = input.take<std::uint8_t>() < 128 ? static_cast<std::uint32_t>(items) : input.take<std::uint32_t>();
    };
    fill(page.finding_count, page.findings);
    fill(page.guard_count, page.guards);
    fill(page.place_count, page.places);
    fill(page.shape_count, page.shapes);
    return page;
}

inline void require_message(const std::string& message) {
    require(!message.empty(), "there is a message");
    require(message.size() < 4000, "a message is short");
}

inline void try_ending(const StatusPage& page, Bytes& input) {
    Ended ended;
    ended.how = static_cast<End>(input.take<std::uint8_t>() % 6);
    ended.status = input.take<std::uint8_t>();
    ended.peak_rss_bytes = input.take<std::uint64_t>();
    ended.output = input.rest();
    const Failure failure = explain_end({ended, page, std::string(input.text(300)), 10, Limits{}, 1 << 20});
    require(!failure.cause.empty(), "there is a cause");
    require_message(failure.message);
}

/// Return a line of the student's file for each program counter, except for about one in seven.
inline SourceLines lines_of(const std::vector<RawFinding>& findings, const std::vector<AccessCounts>& counts) {
    SourceLines lines;
    const auto add = [&](std::uint64_t program_counter) {
        if (program_counter % 7 != 0) lines[program_counter] = static_cast<int>(program_counter % 40);
    };
    for (const RawFinding& finding : findings) {
        add(finding.now.program_counter);
        add(finding.before.program_counter);
    }
    for (const AccessCounts& count : counts) add(count.program_counter);
    return lines;
}

inline void try_findings(const std::vector<RawFinding>& findings, const SourceLines& lines, const StatusPage& page) {
    const std::vector<BufferSpec> buffers = {{"in", ElementType::float32, Role::input, "numbers"},
                                             {"out", ElementType::uint8, Role::output, "bytes"}};
    std::string text;
    for (int line = 0; line < 40; ++line) text += "  tile[t / 32][k] = s->w[i][2]] + [];\n";
    const std::set<std::uint64_t> guards(page.guards, page.guards + std::min(page.guard_count, max_guards));
    const std::vector<Finding> descriptions = describe_findings(buffers, lines, text, guards, findings);
    require(descriptions.size() <= findings.size(), "each finding comes from a raw finding");
    for (const Finding& finding : descriptions) {
        require(!finding.cause.empty(), "a finding has a cause");
        require_message(finding.message);
        require(to_printable(finding.message) == finding.message, "a finding's words are printable");
    }
}

inline void try_counters(const Counted& counted, const SourceLines& lines) {
    for (const LineSummary& line : summarise_lines(add_up_counts(lines, counted.accesses)))
        require(line.heat >= 0 && line.heat <= 1, "heat is a share");
    const Gpu& gpu = find_gpu("T4");
    for (const KernelShape& shape : describe_kernels(counted.launches, {{"k", {40, 8}}}, gpu)) {
        require(shape.occupancy.share >= 0 && shape.occupancy.share <= 1, "occupancy is a share");
        require_message(occupancy_words(shape, gpu));
    }
    for (const Counter counter : {Counter::device_bytes, Counter::device_accesses, Counter::device_atomics,
                                  Counter::sectors, Counter::bank_passes, Counter::idle_lanes}) {
        const double value = counter_value(counter, counted);
        require(std::isfinite(value), "a counter is a number");
        require_message(limit_words({{counter, 1, "tiny", "something"}, value}));
    }
}

inline void try_status_page(std::string_view bytes) {
    Bytes input(bytes);
    const StatusPage page = read_page(input);
    const std::vector<RawFinding> findings = merge_findings({page.findings[1]}, page);
    require(findings.size() <= max_findings, "no more findings than the sanitizer makes");
    const Counted counted{"tiny",
                          {page.places, page.places + std::min(page.place_count, max_places)},
                          {page.shapes, page.shapes + std::min(page.shape_count, max_shapes)},
                          1000};
    const SourceLines lines = lines_of(findings, counted.accesses);
    try_ending(page, input);
    try_findings(findings, lines, page);
    try_counters(counted, lines);
}

}  // namespace warplab::fuzz
