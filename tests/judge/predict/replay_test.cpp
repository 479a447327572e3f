// Replays of small traces that the tests write.
#include "grader/judge/predict/replay.h"

#include <gtest/gtest.h>

#include <numeric>

namespace warplab::predict {
namespace {

constexpr std::size_t sectors_per_block = 64, sampled_blocks = 8;

/// A trace of launches that read an allocation of a gigabyte; each block reads its own sectors.
class Reads {
  public:
    Reads() {
        trace_.memories = {{0, 1ull << 30, trace::MemoryRole::allocation}};
        for (std::uint32_t b = 0; b < sampled_blocks; ++b) {
            for (std::uint32_t s = 0; s < sectors_per_block; ++s) trace_.words.push_back(b * sectors_per_block + s);
            trace_.words.push_back(1);  // pass over the banks
        }
    }
    /// Return the clocks for which the memory is busy in a launch of this many blocks.
    double memory_clocks(std::uint64_t blocks) {
        return launch(blocks).busy[static_cast<std::size_t>(Resource::memory)];
    }
    KernelTime launch(std::uint64_t blocks) {
        TracedLaunch launch{.kernel = "k", .blocks = blocks, .threads = 32, .shared_bytes = 0, .sampled = {}};
        for (std::size_t b = 0; b < std::min<std::size_t>(blocks, sampled_blocks); ++b) {
            const std::span<const std::uint32_t> words(&trace_.words[b * (sectors_per_block + 1)],
                                                       sectors_per_block + 1);
            const TracedOperation read{0x10, trace::OperationKind::device_read, 32, 64, words};
            const TracedOperation wait{0x20, trace::OperationKind::fence, 32, 0, {}};
            launch.sampled.push_back({1, 1, {{read, wait}}});
        }
        return replay(machine, trace_, launch, code_, 32, residency_, nullptr);
    }
    /// Let each access make this many passes over the banks of the L1.
    void set_passes(std::uint32_t passes) {
        for (std::size_t b = 1; b <= sampled_blocks; ++b) trace_.words[b * (sectors_per_block + 1) - 1] = passes;
    }
    Machine machine = read_machine("grader/judge/predict/gpus", "h100");

  private:
    Code code_ = Code({}, {});
    Trace trace_;
    Residency residency_{.bytes = {0}};
};

// Output of g++ 12 for an atomicCAS() in line 4.
constexpr auto swap = R"(
;; Function warplab_cpu::run_body<k()::<lambda()> > (_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_, funcdef_no=1, decl_uid=2, cgraph_uid=3, symbol_order=4)

void warplab_cpu::run_body<k()::<lambda()> > (struct ._anon body)
{
  <bb 2> [local count: 1]:
  [k.cu:4:9] gimple_call <__builtin___tsan_atomic32_compare_exchange_val, _1, _2, _3, _4, 0, 0>
  [k.cu:6:5] gimple_return <NULL>
}
)";

/// Return the time of a block of two warps whose lanes change these words of shared memory by compare-and-swap.
KernelTime swap_words(const std::vector<std::uint32_t>& lane_words) {
    constexpr auto symbol = "_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_";
    const Code code(read_gimple(swap), {{symbol, {{0x10, "__tsan_atomic32_compare_exchange_val"}}}});
    EXPECT_EQ(code.unmatched(), 0);
    Trace trace;
    trace.words = {1, 1};
    trace.words.insert(trace.words.end(), lane_words.begin(), lane_words.end());
    const TracedOperation operation{0x10, trace::OperationKind::shared_atomic, 32, 4, trace.words};
    TracedLaunch launch{.kernel = "k", .blocks = 1, .threads = 64, .shared_bytes = 4096, .sampled = {}};
    launch.sampled.push_back({1, 1, {{operation}, {operation}}});
    Residency residency;
    const Machine machine = read_machine("grader/judge/predict/gpus", "h100");
    return replay(machine, trace, launch, code, 32, residency, nullptr);
}

TEST(Replay, ACompareAndSwapIsRepeatedIfAnotherThreadChangedTheWord) {
    std::vector<std::uint32_t> words(32);
    std::iota(words.begin(), words.end(), 0u);
    const KernelTime apart = swap_words(words), together = swap_words(std::vector<std::uint32_t>(32, 0));
    const std::size_t issue = static_cast<std::size_t>(Resource::issue);
    // If each lane of a warp has its own word, the second warp repeats each attempt once; if all lanes share one word,
    // only one of 64 lanes succeeds at a time.
    EXPECT_LT(apart.busy[issue], 5);
    EXPECT_GT(together.busy[issue], 60 * 10 / 4.0);
    EXPECT_GT(together.clocks, 10 * apart.clocks);
    EXPECT_GT(together.wasted.at({Waste::contention, 4}), apart.wasted.at({Waste::contention, 4}));
}

/// Return the clocks of blocks of one warp: half of them change 32 words 400 times, the other half one word. Only the
/// first `operations` operations of the other half are recorded.
double clocks_if_recorded(std::size_t operations) {
    constexpr auto symbol = "_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_";
    const Code code(read_gimple(swap), {{symbol, {{0x10, "__tsan_atomic32_compare_exchange_val"}}}});
    std::vector<std::uint32_t> apart = {1, 1}, together(34, 0);
    for (std::uint32_t lane = 0; lane < 32; ++lane) apart.push_back(lane);
    together[0] = together[1] = 1;
    const auto change = [](const std::vector<std::uint32_t>& words) {
        return TracedOperation{0x10, trace::OperationKind::shared_atomic, 32, 4, words};
    };
    TracedLaunch launch{.kernel = "k", .blocks = 132 * 64, .threads = 32, .shared_bytes = 100'000, .sampled = {}};
    launch.sampled.push_back({400, 400, {std::vector(400, change(apart))}});
    launch.sampled.push_back({400, operations, {std::vector(operations, change(together))}});
    Residency residency;
    const Machine machine = read_machine("grader/judge/predict/gpus", "h100");
    return replay(machine, Trace(), launch, code, 32, residency, nullptr).clocks;
}

TEST(Replay, ABlockThatWasRecordedInPartTakesAsLongAsAWholeOne) {
    EXPECT_NEAR(clocks_if_recorded(100) / clocks_if_recorded(400), 1, 0.1);
}

TEST(Replay, ALargeLaunchIsReadFromMemoryEachTime) {
    constexpr std::uint64_t many = 200'000;  // 400 MB, and the L2 has 55
    Reads reads;
    const double first = reads.memory_clocks(many);
    EXPECT_GT(first, 0);
    EXPECT_GT(reads.memory_clocks(many), 0.8 * first);
}

TEST(Replay, ASmallLaunchDoesNotLoadAWholeAllocationIntoTheL2) {
    constexpr std::uint64_t many = 200'000;
    Reads reads;
    const double first = reads.memory_clocks(many);
    reads.memory_clocks(1);
    EXPECT_GT(reads.memory_clocks(many), 0.8 * first);
}

TEST(Replay, DataThatFitsIsReadFromTheL2TheSecondTime) {
    constexpr std::uint64_t few = 2'000;  // 4 MB
    Reads reads;
    EXPECT_GT(reads.memory_clocks(few), 0);
    EXPECT_EQ(reads.memory_clocks(few), 0);
    reads.memory_clocks(1);
    EXPECT_EQ(reads.memory_clocks(few), 0);
}

TEST(Replay, ReadsTakeLongerWhileTheMemoryIsLoaded) {
    constexpr std::uint64_t many = 200'000;
    Reads loaded, unloaded;
    unloaded.machine.dram_reads = {{1, 0}};
    loaded.machine.dram_reads = {{0.1, 0}, {0.5, 20'000}};
    EXPECT_GT(loaded.launch(many).clocks, 1.2 * unloaded.launch(many).clocks);
}

TEST(Replay, BankConflictsInTheL1DelayReads) {
    constexpr std::uint64_t many = 200'000;
    Reads reads;
    const double without = reads.launch(many).clocks;
    reads.set_passes(32 * 64);
    EXPECT_GT(reads.launch(many).clocks, 1.5 * without);
}

/// Return the clocks of a launch whose warps each do one volatile read: of the same sector, or of one per block.
double clocks_of_volatile_reads(bool same) {
    std::string read = swap;
    const std::string operation = "__builtin___tsan_atomic32_compare_exchange_val, _1, _2, _3, _4, 0, 0";
    read.replace(read.find(operation), operation.size(), "__builtin___tsan_volatile_read4, NULL, _1");
    constexpr auto symbol = "_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_";
    const Code code(read_gimple(read), {{symbol, {{0x10, "__tsan_volatile_read4"}}}});
    EXPECT_EQ(code.unmatched(), 0);
    constexpr std::uint32_t sampled = 4, far_apart = 1024;
    Trace trace;
    trace.memories = {{0, 1ull << 30, trace::MemoryRole::allocation}};
    for (std::uint32_t b = 0; b < sampled; ++b) trace.words.insert(trace.words.end(), {same ? 0 : b * far_apart, 1});
    TracedLaunch launch{.kernel = "k", .blocks = 1056, .threads = 256, .shared_bytes = 0, .sampled = {}};
    for (std::uint32_t b = 0; b < sampled; ++b) {
        const std::span<const std::uint32_t> words(&trace.words[std::size_t{2} * b], 2);
        launch.sampled.push_back({1, 1, {8, {{0x10, trace::OperationKind::device_read, 32, 4, words}}}});
    }
    Residency residency{.bytes = {0}};
    return replay(read_machine("grader/judge/predict/gpus", "h100"), trace, launch, code, 32, residency, nullptr)
        .clocks;
}

TEST(Replay, VolatileReadsOfOneWordWaitForEachOther) {
    EXPECT_GT(clocks_of_volatile_reads(true), 1056 * 8 * 0.5) << "the L2 serves one after the other";
    EXPECT_LT(clocks_of_volatile_reads(false), 1056 * 8 * 0.25);
}

/// Return the time of a launch in which each warp does `operation` once, in 32 sectors that are `step` apart.
KernelTime time_of_one_access(trace::OperationKind kind, std::uint8_t lane_bytes, std::uint32_t step) {
    constexpr std::uint32_t sampled = 4;
    Trace trace;
    trace.memories = {{0, 1ull << 30, trace::MemoryRole::allocation}};
    const std::uint32_t words = 33;
    for (std::uint32_t b = 0; b < sampled; ++b) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) trace.words.push_back((b * 32 + lane) * step);
        trace.words.push_back(1);
    }
    TracedLaunch launch{.kernel = "k", .blocks = 132 * 400, .threads = 256, .shared_bytes = 0, .sampled = {}};
    for (std::uint32_t b = 0; b < sampled; ++b)
        launch.sampled.push_back(
            {1, 1, {8, {{0x10, kind, 32, lane_bytes, std::span(&trace.words[std::size_t{words} * b], words)}}}});
    Residency residency{.bytes = {0}};
    return replay(read_machine("grader/judge/predict/gpus", "h200"), trace, launch, Code({}, {}), 32, residency,
                  nullptr);
}

TEST(Replay, SectorsThatAreWrittenInPartTakeLonger) {
    using enum trace::OperationKind;
    const double apart = time_of_one_access(device_write, 4, 4).clocks;
    EXPECT_GT(apart, 1.5 * time_of_one_access(device_write, 32, 4).clocks);
    EXPECT_GT(apart, 1.3 * time_of_one_access(device_write, 4, 1).clocks);
}

TEST(Replay, TheMemoryReadsPairsOfSectors) {
    using enum trace::OperationKind;
    const auto memory_clocks = [](std::uint32_t step) {
        return time_of_one_access(device_read, 4, step).busy[static_cast<std::size_t>(Resource::memory)];
    };
    EXPECT_DOUBLE_EQ(memory_clocks(2), 2 * memory_clocks(1));
}

// Output of g++ 12 for a conversion to double in line 4.
constexpr auto conversion = R"(
;; Function warplab_cpu::run_body<k()::<lambda()> > (_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_, funcdef_no=1, decl_uid=2, cgraph_uid=3, symbol_order=4)

void warplab_cpu::run_body<k()::<lambda()> > (struct ._anon body)
{
  float _1;
  double _2;

  <bb 2> [local count: 1]:
  [k.cu:4:9] gimple_call <__builtin___sanitizer_cov_trace_pc, NULL>
  [k.cu:4:9] gimple_assign <nop_expr, _2, _1, NULL, NULL>
  [k.cu:6:5] gimple_return <NULL>
}
)";

TEST(Replay, ConversionsOf64BitsWaitForOneUnit) {
    constexpr auto symbol = "_ZN11warplab_cpu8run_bodyIZ1kvEUlvE_EEvT_";
    const Code code(read_gimple(conversion), {{symbol, {{0x10, "__sanitizer_cov_trace_pc"}}}});
    ASSERT_EQ(code.unmatched(), 0);
    constexpr std::size_t warps = 8, conversions = 100;
    const TracedOperation block{0x10, trace::OperationKind::basic_block, 32, 0, {}};
    TracedLaunch launch{.kernel = "k", .blocks = 1, .threads = 32 * warps, .shared_bytes = 0, .sampled = {}};
    launch.sampled.push_back({conversions, conversions, std::vector(warps, std::vector(conversions, block))});
    Residency residency;
    const Machine machine = read_machine("grader/judge/predict/gpus", "h100");
    const KernelTime time = replay(machine, Trace(), launch, code, 32, residency, nullptr);
    // Two warps of each of four schedulers; 16 lanes of a multiprocessor in a clock.
    EXPECT_DOUBLE_EQ(time.busy[static_cast<std::size_t>(Resource::special)], warps * conversions * 32 / 16.0);
    EXPECT_GE(time.clocks, warps * conversions * 32 / 16.0);
}

}  // namespace
}  // namespace warplab::predict
