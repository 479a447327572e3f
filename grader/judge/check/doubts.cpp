#include "grader/judge/check/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "grader/common/text.h"

namespace warplab {
namespace {

std::uint64_t changed_bytes(const Array& before, const Array& after) {
    const std::size_t bytes = std::min(before.bytes(), after.bytes());
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < bytes; ++i) changed += before.data()[i] != after.data()[i];
    return changed;
}

/// Return the bytes of inputs that were read and of outputs that were written, each byte once.
double bytes_seen(const Lab& lab, const Observations& observed) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < lab.buffers.size() && i < max_buffers; ++i) {
        if (lab.buffers[i].role != Role::output) bytes += observed.read_bytes[i];
        if (lab.buffers[i].role != Role::input) bytes += observed.written_bytes[i];
    }
    return static_cast<double>(bytes);
}

}  // namespace

std::string find_doubt(const Lab& lab, const Oracle& oracle, const CheckedCall& call, const Observations& observed) {
    const auto& all = call.findings;
    if (observed.finding_count != all.size())
        return fmt::format("The program reports that it sent {}, but {} arrived.",
                           format_plural(observed.finding_count, "finding"), all.size());
    if (observed.findings != std::accumulate(all.begin(), all.end(), std::uint64_t{0}, add_to_findings))
        return "The program altered the sanitizer's findings before they arrived.";
    if (observed.replaced_handlers > 0) return "The program replaced the sanitizer's signal handler.";
    if (call.host_variant) return "";
    for (std::size_t i = 0; i < lab.buffers.size() && i < max_buffers; ++i) {
        if (lab.buffers[i].role == Role::input) continue;
        const std::uint64_t changed = changed_bytes(call.before[i], call.after[i]);
        if (observed.written_bytes[i] < changed)
            return fmt::format("The call changed {} of {}, but the sanitizer saw writes to only {}.",
                               format_plural(changed, "byte"), lab.buffers[i].name, observed.written_bytes[i]);
    }
    // Half is enough, because a call may skip elements at an edge or in padding.
    const double needed = oracle.cost(call.problem).floor_bytes / 2, seen = bytes_seen(lab, observed);
    if (seen < needed)
        return fmt::format("A correct answer reads and writes at least {}, but the sanitizer saw only {}.",
                           format_bytes(needed), format_bytes(seen));
    return "";
}

}  // namespace warplab
