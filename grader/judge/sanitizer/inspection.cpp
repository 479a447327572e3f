#include "grader/judge/sanitizer/inspection.h"

#include <algorithm>

namespace warplab {
namespace {

KernelLaunches describe(const KernelShape& shape) {
    const LaunchCounts& launch = shape.launch;
    KernelLaunches described;
    described.kernel = shape.kernel;
    described.launches = launch.launches;
    described.blocks = launch.blocks;
    described.block.assign(std::begin(launch.block), std::end(launch.block));
    described.largest_grid.assign(std::begin(launch.grid), std::end(launch.grid));
    described.static_shared_bytes = launch.static_shared_bytes;
    described.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    if (shape.resources.registers) described.registers = shape.resources.registers;
    described.spilled_bytes = shape.resources.spilled_bytes;
    described.resident_blocks = shape.occupancy.blocks;
    described.resident_threads = shape.occupancy.threads;
    described.resident_share = shape.occupancy.share;
    described.limit = shape.occupancy.limit;
    return described;
}

GpuLimits describe(const Gpu& gpu) {
    return {gpu.name, gpu.multiprocessors, gpu.threads, gpu.blocks, gpu.registers, gpu.shared_bytes};
}

AccessSums describe(const LineCounts& c) {
    static constexpr const char* kinds[] = {"device", "shared", "constant"};
    AccessSums sums;
    sums.kernel = c.kernel;
    sums.line = c.line;
    sums.memory = kinds[std::min<std::size_t>(static_cast<std::size_t>(c.kind), 2)];
    sums.atomic = c.atomic;
    sums.requests = c.all.requests;
    sums.lanes = c.all.lanes;
    sums.sectors = c.all.sectors;
    sums.fewest_sectors = c.all.fewest_sectors;
    sums.bank_passes = c.all.bank_passes;
    sums.same_address = c.all.same_address;
    sums.store_requests = c.stores.requests;
    sums.store_sectors = c.stores.sectors;
    sums.store_bank_passes = c.stores.bank_passes;
    return sums;
}

LineMargin describe(const LineSummary& m) {
    LineMargin margin{m.line, m.heat, m.requests, m.lanes, m.sectors, m.fewest_sectors, m.passes, m.clashes, {}};
    if (m.few_lanes()) margin.costly.push_back("lanes");
    if (m.many_sectors()) margin.costly.push_back("sectors");
    if (m.many_passes()) margin.costly.push_back("passes");
    if (m.many_clashes()) margin.costly.push_back("clashes");
    return margin;
}

LimitResult describe(const LimitOutcome& outcome) {
    return {std::string(counter_name(outcome.limit.counter)),
            outcome.limit.dataset,
            outcome.limit.at_most,
            outcome.value,
            outcome.held(),
            outcome.held() ? "" : limit_words(outcome)};
}

DatasetCounters describe(const Counted& counted) {
    const auto value = [&](Counter counter) { return counter_value(counter, counted); };
    return {counted.dataset,
            counted.minimum_bytes,
            value(Counter::device_bytes),
            value(Counter::thread_bytes),
            value(Counter::device_accesses),
            value(Counter::device_atomics),
            value(Counter::sectors),
            value(Counter::bank_passes),
            value(Counter::idle_lanes)};
}

template <class T, class Described>
void describe_all(const std::vector<T>& items, std::vector<Described>& all) {
    for (const T& item : items) all.push_back(describe(item));
}

}  // namespace

Inspection describe_inspection(const Inspected& inspected) {
    Inspection inspection;
    inspection.lab = inspected.lab;
    inspection.stage = inspected.stage;
    inspection.datasets = static_cast<int>(inspected.datasets.size());
    inspection.passed = inspected.passed;
    inspection.wrong = inspected.wrong;
    inspection.wrong_hint = inspected.wrong_hint;
    inspection.file = inspected.file;
    inspection.source = inspected.source;
    inspection.findings = inspected.findings;
    describe_all(inspected.counts, inspection.counts);
    describe_all(inspected.lines, inspection.lines);
    describe_all(inspected.limits, inspection.limits);
    describe_all(inspected.datasets, inspection.counters);
    inspection.gpu = describe(inspected.gpu);
    describe_all(inspected.kernels, inspection.kernels);
    inspection.device_bytes = device_bytes(inspected.all.accesses);
    inspection.least_bytes = inspected.all.minimum_bytes;
    return inspection;
}

}  // namespace warplab
