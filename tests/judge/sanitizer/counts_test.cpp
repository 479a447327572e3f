#include "grader/judge/sanitizer/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace warplab {
namespace {

using testing::HasSubstr;

AccessCounts access(MemoryKind kind, std::uint64_t requests, std::uint64_t lanes) {
    AccessCounts counts{};
    counts.kind = static_cast<std::uint32_t>(kind);
    counts.requests = requests;
    counts.lanes = counts.accesses = lanes;
    counts.width = 4;
    return counts;
}

LaunchCounts launch(const char* kernel, unsigned threads, std::uint64_t blocks) {
    LaunchCounts counts{};
    std::strcpy(counts.kernel, kernel);
    counts.launches = 1;
    counts.blocks = blocks;
    counts.block[0] = threads;
    counts.grid[0] = static_cast<std::uint32_t>(blocks);
    counts.block[1] = counts.block[2] = counts.grid[1] = counts.grid[2] = 1;
    return counts;
}

Counted on(const char* dataset, std::vector<LaunchCounts> launches) { return {dataset, {}, std::move(launches)}; }

TEST(MayBeSwapped, IsTrueIfTheBlockSizeDependsOnTheDataset) {
    EXPECT_FALSE(may_be_swapped({on("small", {launch("k", 256, 3)}), on("large", {launch("k", 256, 900)})}));
    EXPECT_TRUE(may_be_swapped({on("small", {launch("k", 3, 256)}), on("large", {launch("k", 900, 256)})}));
}

TEST(MayBeSwapped, IsTrueIfAConstantGridSizeLooksLikeABlockSize) {
    EXPECT_TRUE(may_be_swapped({on("small", {launch("k", 512, 256)}), on("large", {launch("k", 512, 256)})}));
    EXPECT_FALSE(may_be_swapped({on("small", {launch("k", 256, 4)}), on("large", {launch("k", 256, 4)})}));
    EXPECT_FALSE(may_be_swapped({on("the only one", {launch("k", 512, 256)})}));
    EXPECT_FALSE(may_be_swapped({}));
}

TEST(DeviceBytes, AreScaledUpFromTheCountedAccesses) {
    AccessCounts device = access(MemoryKind::device, 10, 320);
    device.sectors = 40;
    device.accesses = 3200;  // in all blocks; ten times the counted accesses
    EXPECT_DOUBLE_EQ(device_bytes({device}), 40 * 10 * 32.0);
    AccessCounts shared = access(MemoryKind::shared, 10, 320);
    shared.sectors = 40;
    EXPECT_EQ(device_bytes({shared, AccessCounts{}}), 0);  // a forged page without lanes must not cause a division by 0
}

TEST(CounterValue, IsASumOverKernels) {
    Counted counted;
    AccessCounts atomic = access(MemoryKind::device, 4, 100);
    atomic.atomic = 1;
    AccessCounts load = access(MemoryKind::device, 4, 128);
    load.width = 16;
    load.sectors = 64;
    load.fewest_sectors = 64;
    AccessCounts half = access(MemoryKind::shared, 10, 160);
    half.bank_passes = 30;
    counted.accesses = {atomic, load, half};
    counted.launches = {launch("a", 32, 5), launch("b", 32, 5)};
    EXPECT_DOUBLE_EQ(counter_value(Counter::device_atomics, counted), 10);
    EXPECT_DOUBLE_EQ(counter_value(Counter::device_accesses, counted), 1);
    EXPECT_DOUBLE_EQ(counter_value(Counter::sectors, counted), 1);
    EXPECT_DOUBLE_EQ(counter_value(Counter::bank_passes, counted), 3);
    EXPECT_DOUBLE_EQ(counter_value(Counter::idle_lanes, counted), 0.5);
    EXPECT_DOUBLE_EQ(counter_value(Counter::device_bytes, counted), 0);  // the minimum is unknown
    EXPECT_DOUBLE_EQ(counter_value(Counter::thread_bytes, counted), 0);
    counted.minimum_bytes = 1024;
    EXPECT_DOUBLE_EQ(counter_value(Counter::thread_bytes, counted), 128 * 16 / 1024.0);
    EXPECT_DOUBLE_EQ(counter_value(Counter::device_bytes, counted), 64 * 32 / 1024.0);
    for (const Counter counter : {Counter::device_accesses, Counter::device_atomics, Counter::sectors,
                                  Counter::bank_passes, Counter::idle_lanes})
        EXPECT_EQ(counter_value(counter, {}), 0);
}

TEST(Limits, ApplyOnlyToTheirDataset) {
    Stage stage;
    stage.counters = {{Counter::device_atomics, 8, "noise", "shared bins"},
                      {Counter::device_atomics, 8, "elsewhere", "shared bins"}};
    Counted counted;
    counted.dataset = "noise";
    AccessCounts atomic = access(MemoryKind::device, 4, 100);
    atomic.atomic = 1;
    counted.accesses = {atomic};
    counted.launches = {launch("a", 32, 10)};
    const auto outcomes = compare_with_limits(stage, {counted});
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_FALSE(outcomes[0].held());
    EXPECT_EQ(limit_words(outcomes[0]),
              "Technique not used, or needless work: 10.0 atomics on device memory for each block on noise, where at "
              "most 8.00 are expected. This stage is about shared bins.");
}

TEST(DescribeKernels, AddsLaunchesOfOneShape) {
    const auto shapes = describe_kernels({launch("sum<256>", 256, 10), launch("sum<256>", 256, 30), launch("b", 64, 1)},
                                         {{"sum", {40, 0}}}, find_gpu("H200"));
    ASSERT_EQ(shapes.size(), 2u);
    EXPECT_EQ(shapes[0].launch.launches, 2u);
    EXPECT_EQ(shapes[0].launch.blocks, 40u);
    EXPECT_EQ(shapes[0].launch.grid[0], 30u);
    EXPECT_EQ(occupancy_words(shapes[0], find_gpu("H200")),
              "256 threads per block, 0 bytes shared, 40 registers: 1536 of 2048 threads of an H200's multiprocessor "
              "(75%), limited by registers");
    EXPECT_THAT(occupancy_words(shapes[1], find_gpu("H200")), HasSubstr("registers not known: at most 2048 of"));
}

TEST(SummariseLines, AveragesOverRequests) {
    LineCounts load, add;
    load.line = add.line = 7;
    load.all.requests = 10;
    load.all.lanes = 320;
    load.all.sectors = 80;
    load.all.fewest_sectors = 40;
    add.kind = MemoryKind::shared;
    add.atomic = true;
    add.all.requests = 10;
    add.all.lanes = 160;
    add.all.bank_passes = 15;
    add.all.same_address = 50;
    const auto lines = summarise_lines({load, add});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].requests, 20u);
    EXPECT_EQ(lines[0].lanes, 24);
    EXPECT_EQ(lines[0].sectors, 8);
    EXPECT_EQ(lines[0].passes, 1.5);
    EXPECT_EQ(lines[0].clashes, 5);
    EXPECT_EQ(lines[0].heat, 1);
    EXPECT_TRUE(lines[0].many_sectors() && lines[0].many_clashes());
    EXPECT_FALSE(lines[0].few_lanes() || lines[0].many_passes());
}

}  // namespace
}  // namespace warplab
