#include "grader/judge/sanitizer/occupancy.h"

#include <gtest/gtest.h>

#include "grader/model/manifest.h"

namespace warplab {
namespace {

struct Case {
    const char* gpu;
    int threads;
    long long shared_bytes;
    int registers, blocks;
    const char* limit;
};

// Results of cudaOccMaxActiveBlocksPerMultiprocessor (cuda_occupancy.h of CUDA 13.0), with all shared memory preferred
// over the L1 cache.
constexpr Case cases[] = {
    {"H200", 256, 4352, 40, 6, "registers"},
    {"H200", 256, 0, 32, 8, "threads"},
    {"H200", 96, 0, 24, 21, "threads"},
    {"H200", 1024, 100000, 32, 2, "threads"},
    {"H200", 32, 0, 16, 32, "the number of blocks"},
    {"V100", 128, 12288, 64, 8, "registers"},
    {"T4", 256, 8192, 32, 4, "threads"},
    {"T4", 64, 100, 20, 16, "threads"},
    {"A100", 192, 40000, 48, 4, "shared memory"},
    {"RTX 3080", 512, 0, 40, 3, "threads"},
    {"RTX 4090", 33, 0, 200, 4, "registers"},
    {"RTX 5090", 1, 1024, 255, 8, "registers"},
    {"B200", 640, 50000, 37, 2, "registers"},
    {"GTX 1080", 100, 6000, 80, 6, "registers"},
    {"GTX 1080", 256, 40000, 16, 2, "shared memory"},
};

class Occupied : public testing::TestWithParam<Case> {};
TEST_P(Occupied, EqualsNvidiasCalculator) {
    const Case& c = GetParam();
    const Occupancy result = occupancy(find_gpu(c.gpu), c.threads, c.shared_bytes, c.registers);
    EXPECT_EQ(result.blocks, c.blocks);
    EXPECT_EQ(result.threads, c.blocks * c.threads);
    EXPECT_EQ(result.limit, c.limit);
}
INSTANTIATE_TEST_SUITE_P(All, Occupied, testing::ValuesIn(cases));

TEST(Occupancy, IsNotLimitedByUnknownRegisters) { EXPECT_EQ(occupancy(find_gpu("H200"), 1024, 0, 0).blocks, 2); }

TEST(Occupancy, ShareIsThatOfTheThreads) { EXPECT_DOUBLE_EQ(occupancy(find_gpu("H200"), 256, 4352, 40).share, 0.75); }

TEST(Occupancy, IsZeroIfABlockDoesNotFit) {
    EXPECT_EQ(occupancy(find_gpu("T4"), 256, 65 * 1024, 32).blocks, 0);
    EXPECT_EQ(occupancy(find_gpu("T4"), 1024, 0, 128).blocks, 0);
    EXPECT_EQ(occupancy(find_gpu("T4"), 0, 0, 32).blocks, 0);
}

TEST(FindGpu, AcceptsDifferentSpellings) {
    EXPECT_STREQ(find_gpu("rtx3080").name, "RTX 3080");
    EXPECT_STREQ(find_gpu("NVIDIA GeForce RTX 4090").name, "RTX 4090");
    EXPECT_EQ(find_gpu("h200").architecture(), "sm_90");
}

TEST(FindGpu, NamesTheChoices) {
    try {
        find_gpu("RTX 3081");
        FAIL() << "find_gpu() accepted an unknown GPU";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("RTX 3080"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace warplab
