#include "grader/judge/predict/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/common/json.h"
#include "grader/common/read_file.h"
#include "grader/common/usage_error.h"

namespace warplab::predict {
namespace {
namespace fs = std::filesystem;

class Fields {
  public:
    Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}
    double number(const char* name) const {
        if (!json_.contains(name) || !json_[name].is_number())
            throw UsageError(fmt::format("{} lacks the number \"{}\".", where_, name));
        return json_[name].get<double>();
    }
    /// Return points in ascending order of their share.
    std::vector<DramLoad> loads(const char* name) const {
        std::vector<DramLoad> loads;
        const auto is_point = [](const Json& point) {
            return point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
        };
        if (!json_.contains(name) || !json_[name].is_array() || !std::ranges::all_of(json_[name], is_point))
            throw UsageError(fmt::format("{} lacks the list \"{}\" of pairs [share, clocks].", where_, name));
        for (const Json& point : json_[name]) loads.push_back({point[0].get<double>(), point[1].get<double>()});
        std::ranges::sort(loads, {}, &DramLoad::share);
        return loads;
    }
    Fields part(const char* name) const {
        if (!json_.contains(name) || !json_[name].is_object())
            throw UsageError(fmt::format("{} lacks the part \"{}\".", where_, name));
        return {json_[name], fmt::format("{}, \"{}\",", where_, name)};
    }

  private:
    const Json& json_;
    std::string where_;
};

void read_times(const Fields& all, Machine& machine) {
    const Fields latency = all.part("latency_clocks");
    machine.latency = {latency.number("arithmetic"),
                       latency.number("fp64"),
                       latency.number("shared"),
                       latency.number("shared_write"),
                       latency.number("l1"),
                       latency.number("l2"),
                       latency.number("dram"),
                       latency.number("shuffle"),
                       latency.number("barrier"),
                       latency.number("atomic"),
                       latency.number("shared_atomic"),
                       latency.number("block_start"),
                       latency.number("warp_start")};
    const Fields occupies = all.part("occupies_clocks");
    machine.occupies = {
        occupies.number("fp64"),          occupies.number("shuffle"),        occupies.number("tag"),
        occupies.number("shared_atomic"), occupies.number("atomic"),         occupies.number("atomic_lane"),
        occupies.number("atomic_result"), occupies.number("sector"),         occupies.number("slice_read"),
        occupies.number("partial_line"),  occupies.number("changed_sector"), occupies.number("block")};
    const Fields host = all.part("host_seconds");
    machine.host = {
        host.number("launch"),          host.number("gap"),  host.number("start"),    host.number("copy_to_host"),
        host.number("copy_to_device"),  host.number("fill"), host.number("allocate"), host.number("wait"),
        host.number("link_bytes_per_s")};
}

}  // namespace

std::string default_machine(const fs::path& folder) {
    const std::string text = read_file(folder / "default");
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == std::string::npos)
        throw UsageError(fmt::format("{} does not name a GPU, such as H200.", (folder / "default").string()));
    return text.substr(0, end + 1);
}

std::vector<std::string> known_machines(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

Machine read_machine(const fs::path& folder, const std::string& name) {
    const fs::path path = folder / (name + ".json");
    const std::vector<std::string> names = known_machines(folder);
    if (std::ranges::find(names, name) == names.end())
        throw UsageError(
            fmt::format("The model does not know the GPU {}. Choose one of {}.", name, fmt::join(names, ", ")));
    std::ifstream file(path);
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object()) throw UsageError(fmt::format("{} is not a JSON object.", path.string()));
    const Fields all(json, path.string());
    Machine machine;
    machine.name = json.value("name", name);
    machine.architecture = json.value("architecture", "sm_90");
    machine.source = json.value("source", "");
    machine.spread = all.number("spread");
    const Fields ratio = all.part("ratio_spread");
    machine.min_ratio_spread = ratio.number("least");
    machine.max_ratio_spread = ratio.number("most");
    machine.clock_hz = all.number("clock_hz");
    const Fields sm = all.part("multiprocessor");
    machine.multiprocessors = static_cast<int>(all.number("multiprocessors"));
    machine.threads = static_cast<int>(sm.number("threads"));
    machine.blocks = static_cast<int>(sm.number("blocks"));
    machine.registers = static_cast<int>(sm.number("registers"));
    machine.l1_bytes = sm.number("l1_bytes");
    machine.shared_bytes = sm.number("shared_bytes");
    machine.l2_bytes_per_clock = sm.number("l2_bytes_per_clock");
    const Fields memory = all.part("memory");
    machine.dram_bytes_per_s = memory.number("dram_bytes_per_s");
    machine.l2_bytes_per_s = memory.number("l2_bytes_per_s");
    machine.l2_bytes = memory.number("l2_bytes");
    machine.l2_slice_bytes = memory.number("l2_slice_bytes");
    machine.dram_copy_bytes_per_s = memory.number("dram_copy_bytes_per_s");
    machine.dram_reads = memory.loads("dram_reads");
    machine.dram_copies = memory.loads("dram_copies");
    read_times(all, machine);
    return machine;
}

}  // namespace warplab::predict
