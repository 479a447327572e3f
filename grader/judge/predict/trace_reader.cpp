#include "grader/judge/predict/trace_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>

namespace warplab::predict {
namespace {

using trace::OperationKind;
using trace::RecordKind;

constexpr std::uint64_t max_blocks_of_grid = std::uint64_t{1} << 40;
// Much more than the runner records or a program needs.
constexpr std::size_t max_sampled = 4096, max_memories = 1 << 16;

[[noreturn]] void reject(const char* what) {
    throw std::runtime_error(std::string("the trace of the program is damaged: ") + what);
}

template <class Record>
Record take(std::string_view& bytes) {
    Record record;
    if (bytes.size() < sizeof record) reject("a record is too short");
    std::memcpy(&record, bytes.data(), sizeof record);
    bytes.remove_prefix(sizeof record);
    return record;
}

std::size_t min_words(OperationKind kind, std::size_t words, std::size_t lanes) {
    switch (kind) {
        case OperationKind::device_read:
        case OperationKind::device_write:
            return 2;
        case OperationKind::shared_read:
        case OperationKind::shared_write:
        case OperationKind::constant_read:
            return 1;
        case OperationKind::device_atomic:
            // Sectors, a count for each sector, and a word for each lane; words + 1 rejects any other number of words.
            return words >= lanes && (words - lanes) % 2 == 0 ? lanes + 2 : words + 1;
        case OperationKind::shared_atomic:
            return 2 + lanes;
        default:
            return 0;
    }
}

/// Weight the sampled blocks by exp(tilt * events), and return their average number of events.
double tilt_weights(std::vector<TracedBlock>& blocks, double tilt) {
    const auto fewest = static_cast<double>(std::ranges::min_element(blocks, {}, &TracedBlock::events)->events);
    const auto most =
        std::max(1.0, static_cast<double>(std::ranges::max_element(blocks, {}, &TracedBlock::events)->events));
    double weights = 0, events = 0;
    for (TracedBlock& block : blocks) {
        const auto of_block = static_cast<double>(block.events);
        block.weight = std::exp(tilt * (of_block - (tilt > 0 ? most : fewest)) / most);  // at most 1
        weights += block.weight;
        events += block.weight * of_block;
    }
    for (TracedBlock& block : blocks) block.weight *= static_cast<double>(blocks.size()) / weights;
    return events / weights;
}

/// Weight the sampled blocks so that their average work equals that of all blocks that ran, because the few sampled
/// blocks may happen to be short or long.
void weight_blocks(TracedLaunch& launch) {
    constexpr double tolerance = 0.05, max_tilt = 50;
    const double work = relative_work(launch.ends);
    if (launch.sampled.size() < 2 || std::abs(work - 1) < tolerance) return;
    const double target = work * tilt_weights(launch.sampled, 0);
    double low = -max_tilt, high = max_tilt;
    while (high - low > 1e-3) {
        const double tilt = (low + high) / 2;
        (tilt_weights(launch.sampled, tilt) < target ? low : high) = tilt;
    }
}

class Reader {
  public:
    Trace read(std::string_view bytes) {
        // Spans refer to this copy, which never grows.
        trace_.words.resize(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(trace_.words.data(), bytes.data(), trace_.words.size() * sizeof(std::uint32_t));
        const std::string_view all(reinterpret_cast<const char*>(trace_.words.data()),
                                   trace_.words.size() * sizeof(std::uint32_t));
        for (std::string_view rest = all; rest.size() >= sizeof(trace::Header);) {
            const auto header = take<trace::Header>(rest);
            if (header.bytes > rest.size()) reject("a record exceeds the trace");
            add(header.kind, rest.substr(0, header.bytes));
            rest.remove_prefix(header.bytes);
        }
        std::ranges::sort(trace_.memories, {}, &TracedMemory::begin);
        return std::move(trace_);
    }

  private:
    void add(RecordKind kind, std::string_view record) {
        switch (kind) {
            case RecordKind::memory: {
                const auto memory = take<trace::Memory>(record);
                if (memory.begin + memory.bytes < memory.begin) reject("memory wraps around");
                if (trace_.memories.size() == max_memories) reject("there are too many allocations and variables");
                trace_.memories.push_back({memory.begin, memory.bytes, memory.role});
                return;
            }
            case RecordKind::launch:
                return add_launch(take<trace::Launch>(record));
            case RecordKind::block: {
                const auto block = take<trace::Block>(record);
                if (launch().sampled.size() == max_sampled) reject("a launch has too many blocks");
                launch().sampled.push_back({.events = block.events, .recorded = block.recorded, .warps = {}});
                return;
            }
            case RecordKind::warp:
                return add_warp(record);
            case RecordKind::launch_ends:
                launch().ends = take<trace::LaunchEnds>(record);
                launch().shared_bytes += launch().ends.static_shared_bytes;
                weight_blocks(launch());
                return;
            case RecordKind::host_call:
                trace_.steps.emplace_back(take<trace::HostCall>(record));
                return;
            default:
                reject("a record has an unknown kind");
        }
    }

    TracedLaunch& launch() {
        if (trace_.launches.empty()) reject("a block without a launch");
        return trace_.launches.back();
    }

    void add_launch(const trace::Launch& record) {
        TracedLaunch launch;
        launch.kernel.assign(record.kernel, strnlen(record.kernel, sizeof record.kernel));
        launch.blocks = 1;
        for (const std::uint32_t extent : record.grid) {
            launch.blocks *= std::max(extent, 1u);
            if (launch.blocks > max_blocks_of_grid) reject("a launch is too large");  // before it wraps around
        }
        std::uint64_t threads = 1;
        for (const std::uint32_t extent : record.block) threads *= std::clamp(extent, 1u, 1024u);
        if (threads > 1024) reject("a launch is too large");
        launch.threads = static_cast<unsigned>(threads);
        launch.shared_bytes = record.dynamic_shared_bytes;
        const std::size_t number = trace_.launches.size();
        const auto shape = std::tuple(launch.kernel, std::string(reinterpret_cast<const char*>(record.grid), 24),
                                      record.dynamic_shared_bytes);
        launch.same_as = shapes_.emplace(shape, number).first->second;
        if (launch.same_as == number && record.repeats) reject("a launch repeats an unknown one");
        trace_.launches.push_back(std::move(launch));
        trace_.steps.emplace_back(Trace::LaunchNumber{number});
    }

    void add_warp(std::string_view record) {
        const auto warp = take<trace::Warp>(record);
        if (launch().sampled.empty()) reject("a warp without a block");
        std::vector<TracedOperation> operations;
        operations.reserve(std::min<std::size_t>(warp.operations, record.size() / sizeof(trace::Operation)));
        while (!record.empty()) {
            const auto operation = take<trace::Operation>(record);
            const std::size_t bytes = operation.words * sizeof(std::uint32_t);
            if (bytes > record.size() ||
                operation.words < min_words(operation.kind, operation.words, operation.lanes) ||
                operation.kind > OperationKind::fence || operation.lanes == 0 || operation.lanes > 32)
                reject("an operation has the wrong size");
            const auto first =
                static_cast<std::size_t>(record.data() - reinterpret_cast<const char*>(trace_.words.data()));
            operations.push_back({operation.place,
                                  operation.kind,
                                  static_cast<std::uint8_t>(operation.lanes),
                                  static_cast<std::uint8_t>(operation.lane_bytes),
                                  {trace_.words.data() + first / sizeof(std::uint32_t), operation.words}});
            record.remove_prefix(bytes);
        }
        launch().sampled.back().warps.push_back(std::move(operations));
    }

    Trace trace_;
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> shapes_;
};

}  // namespace

std::string_view unsealed(std::string_view file, const protocol::Key& key) {
    const auto seal = take<trace::Seal>(file);
    if (seal.version != trace::format_version) reject("its format has another version");
    if (seal.bytes > file.size()) reject("its end is missing");
    const std::string_view records = file.substr(0, seal.bytes);
    protocol::SipHash hash(key);
    trace::add_to_hash(hash, records.data(), records.size());
    if (trace::seal_of(hash, seal.bytes).hash != seal.hash) reject("another part of the program wrote into it");
    return records;
}

double relative_work(const trace::LaunchEnds& ends) {
    if (ends.recorded_steps == 0 || ends.other_blocks == 0) return 1;
    const double of_sample = static_cast<double>(ends.recorded_steps) / static_cast<double>(ends.recorded_blocks);
    return static_cast<double>(ends.recorded_steps + ends.other_steps) /
           static_cast<double>(ends.recorded_blocks + ends.other_blocks) / of_sample;
}

Trace read_trace(std::string_view bytes) { return Reader().read(bytes); }

}  // namespace warplab::predict
