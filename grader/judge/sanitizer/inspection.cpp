#include "grader/judge/sanitizer/inspection.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace warplab {
namespace {

Json to_json(const KernelShape& shape) {
    const LaunchCounts& launch = shape.launch;
    return {{"kernel", shape.kernel},
            {"launches", launch.launches},
            {"blocks", launch.blocks},
            {"block", launch.block},
            {"largest_grid", launch.grid},
            {"static_shared_bytes", launch.static_shared_bytes},
            {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
            {"registers", shape.resources.registers ? Json(shape.resources.registers) : Json()},
            {"spilled_bytes", shape.resources.spilled_bytes},
            {"resident_blocks", shape.occupancy.blocks},
            {"resident_threads", shape.occupancy.threads},
            {"resident_share", shape.occupancy.share},
            {"limit", shape.occupancy.limit}};
}

Json to_json(const Gpu& gpu) {
    return {{"name", gpu.name},           {"multiprocessors", gpu.multiprocessors},
            {"threads", gpu.threads},     {"blocks", gpu.blocks},
            {"registers", gpu.registers}, {"shared_bytes", gpu.shared_bytes}};
}

Json to_json(const LineCounts& c) {
    static constexpr const char* kinds[] = {"device", "shared", "constant"};
    return {{"kernel", c.kernel},
            {"line", c.line},
            {"memory", kinds[std::min<std::size_t>(static_cast<std::size_t>(c.kind), 2)]},
            {"atomic", c.atomic},
            {"requests", c.all.requests},
            {"lanes", c.all.lanes},
            {"sectors", c.all.sectors},
            {"fewest_sectors", c.all.fewest_sectors},
            {"bank_passes", c.all.bank_passes},
            {"same_address", c.all.same_address},
            {"store_requests", c.stores.requests},
            {"store_sectors", c.stores.sectors},
            {"store_bank_passes", c.stores.bank_passes}};
}

Json to_json(const LineSummary& m) {
    const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json costly = Json::array();
    if (m.few_lanes()) costly.push_back("lanes");
    if (m.many_sectors()) costly.push_back("sectors");
    if (m.many_passes()) costly.push_back("passes");
    if (m.many_clashes()) costly.push_back("clashes");
    return {{"line", m.line},
            {"heat", m.heat},
            {"requests", m.requests},
            {"lanes", m.lanes},
            {"sectors", known(m.sectors)},
            {"fewest_sectors", known(m.fewest_sectors)},
            {"passes", known(m.passes)},
            {"clashes", known(m.clashes)},
            {"costly", costly}};
}

Json to_json(const LimitOutcome& outcome) {
    return {{"counter", counter_name(outcome.limit.counter)},
            {"dataset", outcome.limit.dataset},
            {"at_most", outcome.limit.at_most},
            {"value", outcome.value},
            {"held", outcome.held()},
            {"message", outcome.held() ? "" : limit_words(outcome)}};
}

/// Write every counter that a limit can refer to, by its name.
Json to_json(const Counted& counted) {
    Json json = {{"dataset", counted.dataset}, {"least_bytes", counted.least_bytes}};
    for (const Counter counter : {Counter::device_bytes, Counter::thread_bytes, Counter::device_accesses,
                                  Counter::device_atomics, Counter::sectors, Counter::bank_passes, Counter::idle_lanes})
        json[std::string(counter_name(counter))] = counter_value(counter, counted);
    return json;
}

template <class T>
Json list_of(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items) list.push_back(to_json(item));
    return list;
}

}  // namespace

Json to_json(const Inspection& found) {
    return {{"schema", 1},
            {"lab", found.lab},
            {"stage", found.stage},
            {"datasets", found.datasets.size()},
            {"passed", found.passed},
            {"wrong", found.wrong},
            {"wrong_hint", found.wrong_hint},
            {"file", found.file},
            {"source", found.source},
            {"findings", list_of(found.findings)},
            {"counts", list_of(found.counts)},
            {"lines", list_of(found.lines)},
            {"limits", list_of(found.limits)},
            {"counters", list_of(found.datasets)},
            {"gpu", to_json(found.gpu)},
            {"kernels", list_of(found.kernels)},
            {"device_bytes", device_bytes(found.all.accesses)},
            {"least_bytes", found.all.least_bytes}};
}

}  // namespace warplab
