#include "grader/judge/predict/footprint.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

using trace::OperationKind;

bool is_device(OperationKind kind) {
    return kind == OperationKind::device_read || kind == OperationKind::device_write ||
           kind == OperationKind::device_atomic;
}

/// Count how often a block touches each sector.
std::map<std::size_t, std::unordered_map<std::uint32_t, std::uint32_t>> count_touches(const Trace& trace,
                                                                                      const TracedBlock& block) {
    std::map<std::size_t, std::unordered_map<std::uint32_t, std::uint32_t>> touches;  // by memory
    for (const auto& warp : block.warps)
        for (const TracedOperation& operation : warp) {
            if (!is_device(operation.kind)) continue;
            const int memory = memory_of(trace, operation.words[0]);
            if (memory < 0) continue;
            count_effort();
            for (const std::uint32_t sector : operation.sectors()) ++touches[static_cast<std::size_t>(memory)][sector];
        }
    return touches;
}

}  // namespace

int memory_of(const Trace& trace, std::uint32_t sector) {
    const std::uint64_t address = std::uint64_t{sector} * 32;
    auto after = std::ranges::upper_bound(trace.memories, address, {}, &TracedMemory::begin);
    if (after == trace.memories.begin()) return -1;
    --after;
    return address < after->begin + after->bytes + 32 ? static_cast<int>(after - trace.memories.begin()) : -1;
}

std::vector<Footprint> footprints_of(const Trace& trace, const TracedLaunch& launch, double multiprocessors,
                                     double blocks_at_once) {
    const std::size_t count = trace.memories.size();
    std::vector<Footprint> footprints(count);
    std::map<std::size_t, std::unordered_set<std::uint32_t>> of_all;
    const auto sampled = static_cast<double>(launch.sampled.size());
    for (const TracedBlock& block : launch.sampled) {
        const double share = block.weight / sampled;
        for (const auto& [m, touches] : count_touches(trace, block)) {
            double repeated = 0, repeated_squared = 0;
            for (const auto& [sector, times] : touches) {
                of_all[m].insert(sector);
                footprints[m].accesses += times * share;
                repeated += times - 1;
                repeated_squared += (times - 1.0) * (times - 1.0);
            }
            footprints[m].of_block += static_cast<double>(touches.size()) * share;
            if (repeated_squared > 0) footprints[m].working_set += repeated * repeated / repeated_squared * share;
        }
    }
    const auto blocks = static_cast<double>(launch.blocks);
    for (const auto& [m, touched] : of_all) {
        Footprint& footprint = footprints[m];
        const double all = footprint.of_block * blocks;
        const double all_sectors = static_cast<double>(trace.memories[m].bytes) / sector_bytes + 1;
        const double touched_sectors = static_cast<double>(touched.size());
        const auto pairs =
            std::ranges::count_if(touched, [&](std::uint32_t s) { return s % 2 == 0 || !touched.contains(s - 1); });
        footprint.loaded = 2 * static_cast<double>(pairs) / touched_sectors;
        const double overlap = sampled > 1 ? (footprint.of_block * sampled / touched_sectors - 1) / (sampled - 1) : 0;
        footprint.of_launch = std::min(all_sectors, footprint.of_block * (1 + (blocks - 1) * (1 - overlap)));
        footprint.first_touch = footprint.of_launch / all;
        const double active = std::min(blocks, multiprocessors);
        footprint.sharers = std::min(active, std::max(1 + (active - 1) * overlap, all / all_sectors));
        footprint.working_set = std::min(footprint.working_set * blocks_at_once, all_sectors);
    }
    return footprints;
}

}  // namespace warplab::predict
