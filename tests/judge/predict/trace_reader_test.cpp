// Traces come from a submission's process, so every damaged trace must be refused.
#include "grader/judge/predict/trace_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace warplab::predict {
namespace {

using trace::OperationKind;
using trace::RecordKind;

class Bytes {
  public:
    template <class Record>
    Bytes& add(RecordKind kind, const Record& record, const std::vector<std::uint32_t>& more = {}) {
        const auto bytes = static_cast<std::uint32_t>(sizeof record + more.size() * 4);
        append(trace::Header{kind, bytes});
        append(record);
        for (const std::uint32_t word : more) append(word);
        return *this;
    }
    std::string text;

  private:
    template <class T>
    void append(const T& value) {
        text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
};

std::vector<std::uint32_t> packed(const trace::Operation& operation, const std::vector<std::uint32_t>& words) {
    std::vector<std::uint32_t> result(2);
    std::memcpy(result.data(), &operation, sizeof operation);
    result.insert(result.end(), words.begin(), words.end());
    return result;
}

trace::Launch launch_of(std::uint32_t blocks) {
    trace::Launch launch{};
    std::strcpy(launch.kernel, "k");
    launch.grid[0] = blocks;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.block[0] = 64;
    return launch;
}

Bytes small_trace() {
    Bytes bytes;
    bytes.add(RecordKind::memory, trace::Memory{4096, 1 << 20, trace::MemoryRole::lab_buffer, 0})
        .add(RecordKind::launch, launch_of(10))
        .add(RecordKind::block, trace::Block{64, 64})
        .add(RecordKind::warp, trace::Warp{1},
             packed(trace::Operation{0x30, OperationKind::device_read, 32, 3, 4}, {128, 129, 5}))
        .add(RecordKind::launch_ends, trace::LaunchEnds{512})
        .add(RecordKind::host_call, trace::HostCall{trace::HostCallKind::wait});
    return bytes;
}

TEST(TraceReader, ReadsLaunchesBlocksAndOperations) {
    const Trace trace = read_trace(small_trace().text);
    ASSERT_EQ(trace.launches.size(), 1u);
    EXPECT_EQ(trace.launches[0].blocks, 10u);
    EXPECT_EQ(trace.launches[0].shared_bytes, 512u);
    ASSERT_EQ(trace.launches[0].sampled.size(), 1u);
    const TracedOperation& operation = trace.launches[0].sampled[0].warps.at(0).at(0);
    EXPECT_EQ(operation.place, 0x30u);
    EXPECT_EQ(operation.sectors().size(), 2u);
    EXPECT_EQ(operation.passes(), 5);
    EXPECT_EQ(trace.steps.size(), 2u);
}

/// Return the weights of three sampled blocks, the last of which does four times as much as each of the others, if all
/// blocks that ran do `steps` on average.
std::vector<double> weights(double steps) {
    Bytes bytes;
    bytes.add(RecordKind::launch, launch_of(1000));
    for (const std::uint64_t events : {100, 100, 400}) bytes.add(RecordKind::block, trace::Block{events, events});
    trace::LaunchEnds ends{512};
    ends.recorded_blocks = 3;
    ends.recorded_steps = 6000;
    ends.other_blocks = 27;
    ends.other_steps = static_cast<std::uint64_t>(30 * steps) - ends.recorded_steps;
    std::vector<double> result;
    for (const TracedBlock& block : read_trace(bytes.add(RecordKind::launch_ends, ends).text).launches[0].sampled)
        result.push_back(block.weight);
    return result;
}

TEST(TraceReader, SampledBlocksStandForAllThatRan) {
    EXPECT_EQ(weights(2050), std::vector<double>({1, 1, 1}));  // nearly the average of the sample
    const std::vector<double> more_long_ones = weights(2500), only_short_ones = weights(900);
    EXPECT_NEAR(more_long_ones[2], 1.5, 0.01);  // (100 * 0.75 + 100 * 0.75 + 400 * 1.5) / 3 = 250
    EXPECT_NEAR(more_long_ones[0] + more_long_ones[1] + more_long_ones[2], 3, 1e-9);
    EXPECT_NEAR(only_short_ones[0], 1.5, 0.01);
}

TEST(TraceReader, RecordsNeedTheSealOfTheRunner) {
    constexpr protocol::Key key{1, 2};
    const std::string records = small_trace().text;
    protocol::SipHash hash(key);
    trace::add_to_hash(hash, records.data(), records.size());
    const trace::Seal seal = trace::seal_of(hash, records.size());
    std::string file(reinterpret_cast<const char*>(&seal), sizeof seal);
    file += records + std::string(64, '\0');
    EXPECT_EQ(unsealed(file, key), records);
    EXPECT_THROW(unsealed(file, {1, 3}), std::runtime_error);
    EXPECT_THROW(unsealed(file.substr(0, records.size()), key), std::runtime_error);
    EXPECT_THROW(unsealed("", key), std::runtime_error);
    for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{16}, sizeof seal, file.size() - 65}) {
        std::string forged = file;
        forged[at] ^= 1;
        EXPECT_THROW(unsealed(forged, key), std::runtime_error);
    }
}

TEST(TraceReader, LaterLaunchOfTheSameShapeRefersToTheFirst) {
    Bytes bytes = small_trace();
    trace::Launch again = launch_of(10);
    again.repeats = 1;
    bytes.add(RecordKind::launch, again).add(RecordKind::launch_ends, trace::LaunchEnds{});
    const Trace trace = read_trace(bytes.text);
    ASSERT_EQ(trace.launches.size(), 2u);
    EXPECT_EQ(trace.launches[1].same_as, 0u);
}

TEST(TraceReader, DamageIsRefused) {
    const auto refused = [](const Bytes& bytes) { EXPECT_THROW(read_trace(bytes.text), std::runtime_error); };
    refused(Bytes().add(RecordKind::block, trace::Block{}));
    refused(Bytes().add(static_cast<RecordKind>(77), trace::Block{}));
    refused(Bytes().add(RecordKind::launch, launch_of(1)).add(RecordKind::warp, trace::Warp{}));
    Bytes atomic;
    atomic.add(RecordKind::launch, launch_of(1))
        .add(RecordKind::block, trace::Block{})
        .add(RecordKind::warp, trace::Warp{1},
             packed(trace::Operation{1, OperationKind::device_atomic, 32, 2, 4}, {1, 1}));
    refused(atomic);
    Bytes lanes;
    lanes.add(RecordKind::launch, launch_of(1))
        .add(RecordKind::block, trace::Block{})
        .add(RecordKind::warp, trace::Warp{1}, packed(trace::Operation{1, OperationKind::barrier, 0, 0, 0}, {}));
    refused(lanes);
    trace::Launch large = launch_of(1);
    large.block[0] = large.block[1] = 1024;
    refused(Bytes().add(RecordKind::launch, large));
    trace::Launch wraps = launch_of(1);
    for (std::uint32_t& extent : wraps.grid) extent = 0x80000000;  // together 2^93 blocks: 0 in 64 bits
    refused(Bytes().add(RecordKind::launch, wraps));
    Bytes blocks, memories;
    blocks.add(RecordKind::launch, launch_of(1));
    for (int i = 0; i < 5000; ++i) blocks.add(RecordKind::block, trace::Block{});
    refused(blocks);
    for (std::uint64_t i = 0; i < 70'000; ++i) memories.add(RecordKind::memory, trace::Memory{i << 12, 64, {}});
    refused(memories);
    Bytes cut = small_trace();
    cut.text.resize(cut.text.size() - 4);
    refused(cut);
}

TEST(TraceReader, RandomDamageNeverEndsTheJudge) {
    std::mt19937 random(7);
    const std::string undamaged = small_trace().text;
    for (int i = 0; i < 2000; ++i) {
        std::string damaged = undamaged;
        for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
        try {
            read_trace(damaged);
        } catch (const std::runtime_error&) {
        }
    }
}

}  // namespace
}  // namespace warplab::predict
