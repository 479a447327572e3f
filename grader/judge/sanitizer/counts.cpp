#include "grader/judge/sanitizer/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "grader/common/text.h"
#include "grader/common/utf8.h"

namespace warplab {
namespace {

constexpr double sector_bytes = 32;

std::string name_of(const LaunchCounts& launch) {
    return to_printable(std::string(launch.kernel, strnlen(launch.kernel, sizeof launch.kernel)));
}

bool same_shape(const LaunchCounts& a, const LaunchCounts& b) {
    return std::equal(a.block, a.block + 3, b.block) && a.static_shared_bytes == b.static_shared_bytes &&
           a.dynamic_shared_bytes == b.dynamic_shared_bytes && name_of(a) == name_of(b);
}

double size_of(const std::uint32_t (&extent)[3]) {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
}

void add(LaunchCounts& sum, const LaunchCounts& launch) {
    sum.launches += launch.launches;
    sum.blocks += launch.blocks;
    if (size_of(launch.grid) > size_of(sum.grid)) std::copy(launch.grid, launch.grid + 3, sum.grid);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

struct LineSums {
    RequestCounts device = {}, near = {}, atomic = {}, all = {};  // near: shared memory and constants
};

LineSummary summarise(int line, const LineSums& sums) {
    LineSummary summary;
    summary.line = line;
    summary.heat = static_cast<double>(sums.all.sectors + sums.all.bank_passes + sums.all.same_address);
    summary.requests = sums.all.requests;
    summary.lanes = ratio(sums.all.lanes, sums.all.requests);
    if (sums.device.requests > 0) {
        summary.sectors = ratio(sums.device.sectors, sums.device.requests);
        summary.fewest_sectors = ratio(sums.device.fewest_sectors, sums.device.requests);
    }
    if (sums.near.requests > 0) summary.passes = ratio(sums.near.bank_passes, sums.near.requests);
    if (sums.atomic.requests > 0) summary.clashes = ratio(sums.atomic.same_address, sums.atomic.requests);
    return summary;
}

const char* words_of(Counter counter) {
    switch (counter) {
        case Counter::device_bytes:
            return "times as many bytes requested from device memory as have to move";
        case Counter::thread_bytes:
            return "bytes that threads load from and store to device memory for each that has to move";
        case Counter::device_accesses:
            return "loads and stores of device memory for each 16 bytes";
        case Counter::device_atomics:
            return "atomics on device memory for each block";
        case Counter::sectors:
            return "times as many sectors of device memory as necessary";
        case Counter::bank_passes:
            return "passes over the banks of shared memory for each request";
        case Counter::idle_lanes:
            return "of the lanes idle when a warp uses shared memory";
    }
    return "";
}

/// Return the name with its article: "an H200", "a T4".
std::string with_article(const std::string& name) { return (std::strchr("AHLR", name.front()) ? "an " : "a ") + name; }

}  // namespace

Counted all_of(const std::vector<Counted>& datasets) {
    Counted all;
    for (const Counted& dataset : datasets) {
        all.accesses.insert(all.accesses.end(), dataset.accesses.begin(), dataset.accesses.end());
        all.launches.insert(all.launches.end(), dataset.launches.begin(), dataset.launches.end());
        all.minimum_bytes += dataset.minimum_bytes;
    }
    return all;
}

double device_bytes(const std::vector<AccessCounts>& accesses) {
    double sectors = 0;
    for (const AccessCounts& c : accesses)
        if (static_cast<MemoryKind>(c.kind) == MemoryKind::device && c.lanes > 0)
            sectors += static_cast<double>(c.sectors) * static_cast<double>(c.accesses) / static_cast<double>(c.lanes);
    return sectors * sector_bytes;
}

// The status page is untrusted: a product of its values may be any number.
int KernelShape::threads() const { return static_cast<int>(std::min(size_of(launch.block), 1e6)); }
std::uint64_t KernelShape::shared_bytes() const { return launch.static_shared_bytes + launch.dynamic_shared_bytes; }

std::vector<KernelShape> describe_kernels(const std::vector<LaunchCounts>& launches,
                                          const std::map<std::string, KernelResources>& resources, const Gpu& gpu) {
    std::vector<KernelShape> shapes;
    for (const LaunchCounts& launch : launches) {
        const auto known =
            std::ranges::find_if(shapes, [&](const KernelShape& shape) { return same_shape(shape.launch, launch); });
        if (known != shapes.end()) {
            add(known->launch, launch);
            continue;
        }
        KernelShape shape{name_of(launch), launch, {}, {}};
        const auto iterator = resources.find(plain_kernel_name(shape.kernel));
        if (iterator != resources.end()) shape.resources = iterator->second;
        shape.occupancy = occupancy(gpu, shape.threads(), static_cast<long long>(shape.shared_bytes() & 0xffffffff),
                                    shape.resources.registers);
        shapes.push_back(std::move(shape));
    }
    return shapes;
}

std::string occupancy_words(const KernelShape& shape, const Gpu& gpu) {
    const Occupancy& resident = shape.occupancy;
    const bool is_known = shape.resources.registers > 0;
    std::string words =
        fmt::format("{} per block, {} shared, {}", format_plural(static_cast<std::uint64_t>(shape.threads()), "thread"),
                    format_plural(shape.shared_bytes(), "byte"),
                    is_known ? format_plural(static_cast<std::uint64_t>(shape.resources.registers), "register")
                             : "registers not known");
    if (resident.blocks == 0)
        return words + fmt::format(": too much for {}, limited by {}", with_article(gpu.name), resident.limit);
    words += fmt::format(": {}{} of {} threads of {}'s multiprocessor ({})", is_known ? "" : "at most ",
                         resident.threads, gpu.threads, with_article(gpu.name), format_share(resident.share));
    if (resident.share < 1) words += fmt::format(", limited by {}", resident.limit);
    if (shape.resources.spilled_bytes > 0)
        words += fmt::format("; {} bytes per thread spill from registers to memory", shape.resources.spilled_bytes);
    return words;
}

double counter_value(Counter counter, const Counted& counted) {
    if (counter == Counter::device_bytes)
        return counted.minimum_bytes > 0 ? device_bytes(counted.accesses) / counted.minimum_bytes : 0;
    const bool of_shared = counter == Counter::bank_passes || counter == Counter::idle_lanes;
    RequestCounts sum{};
    std::uint64_t accesses = 0, atomics = 0, blocks = 0;
    double bytes = 0;  // the accesses' bytes
    for (const AccessCounts& counts : counted.accesses) {
        if (static_cast<MemoryKind>(counts.kind) != (of_shared ? MemoryKind::shared : MemoryKind::device)) continue;
        sum += counts;
        if (counts.atomic) {
            atomics += counts.accesses;
        } else {
            accesses += counts.accesses;
            bytes += static_cast<double>(counts.accesses) * counts.width;
        }
    }
    for (const LaunchCounts& launch : counted.launches) blocks += launch.blocks;
    switch (counter) {
        case Counter::device_bytes:
            break;
        case Counter::thread_bytes:
            return counted.minimum_bytes > 0 ? bytes / counted.minimum_bytes : 0;
        case Counter::device_accesses:
            return bytes > 0 ? 16 * static_cast<double>(accesses) / bytes : 0;
        case Counter::device_atomics:
            return ratio(atomics, blocks);
        case Counter::sectors:
            return ratio(sum.sectors, sum.fewest_sectors);
        case Counter::bank_passes:
            return ratio(sum.bank_passes, sum.requests);
        case Counter::idle_lanes:
            return sum.requests ? 1 - ratio(sum.lanes, sum.requests) / 32 : 0;
    }
    return 0;
}

std::vector<LimitOutcome> compare_with_limits(const Stage& stage, const std::vector<Counted>& datasets) {
    std::vector<LimitOutcome> outcomes;
    for (const CounterLimit& limit : stage.counters)
        for (const Counted& counted : datasets)
            if (counted.dataset == limit.dataset) outcomes.push_back({limit, counter_value(limit.counter, counted)});
    return outcomes;
}

bool may_be_swapped(const std::vector<Counted>& datasets) {
    using Size = std::array<std::uint32_t, 3>;
    struct Sizes {
        std::set<Size> blocks, grids;
        std::size_t datasets = 0;
    };
    std::map<std::string, Sizes> kernels;
    for (const Counted& counted : datasets) {
        for (const LaunchCounts& launch : counted.launches) {
            Sizes& sizes = kernels[name_of(launch)];
            sizes.blocks.insert(std::to_array(launch.block));
            sizes.grids.insert(std::to_array(launch.grid));
            ++sizes.datasets;
        }
    }
    return std::ranges::any_of(kernels, [](const auto& kernel) {
        const Sizes& sizes = kernel.second;
        const Size& grid = *sizes.grids.begin();
        const bool may_be_block = grid[0] * grid[1] * grid[2] % 32 == 0;
        return sizes.blocks.size() > 1 || (sizes.datasets > 1 && sizes.grids.size() == 1 && may_be_block);
    });
}

std::string limit_words(const LimitOutcome& outcome) {
    const CounterLimit& limit = outcome.limit;
    const auto amount = [&](double value) {
        return limit.counter == Counter::idle_lanes ? format_share(value) : format_number(value);
    };
    return fmt::format(
        "Technique not used, or needless work: {} {} on {}, where at most {} are expected. This stage is about {}.",
        amount(outcome.value), words_of(limit.counter), limit.dataset, amount(limit.at_most), limit.about);
}

std::vector<LineSummary> summarise_lines(const std::vector<LineCounts>& counts) {
    std::map<int, LineSums> sums;
    for (const LineCounts& line_counts : counts) {
        LineSums& line = sums[line_counts.line];
        (line_counts.kind == MemoryKind::device ? line.device : line.near) += line_counts.all;
        if (line_counts.atomic) line.atomic += line_counts.all;
        line.all += line_counts.all;
    }
    std::vector<LineSummary> lines;
    for (const auto& [line, of_line] : sums) lines.push_back(summarise(line, of_line));
    double max_heat = 1;
    for (const LineSummary& line : lines) max_heat = std::max(max_heat, line.heat);
    for (LineSummary& line : lines) line.heat /= max_heat;
    return lines;
}

}  // namespace warplab
