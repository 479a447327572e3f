#include "grader/judge/compile/resources.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

// The output of nvcc 13.0, shortened.
constexpr auto report = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN34_GLOBAL__N__89b8bf71_4_t_cu__Z1fPf1hEiPf' for 'sm_90'
ptxas info    : Function properties for _ZN34_GLOBAL__N__89b8bf71_4_t_cu__Z1fPf1hEiPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 20.563 ms
ptxas info    : Compiling entry function '_Z1kILi256EEvPf' for 'sm_90'
ptxas info    : Function properties for _Z1kILi256EEvPf
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compiling entry function '_Z1kILi512EEvPf' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 2048 bytes smem
)";

TEST(ResourceReport, GivesEachKernelItsRegisters) {
    const auto kernels = read_resource_report(report);
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels.at("h").registers, 8);
    EXPECT_EQ(kernels.at("h").spilled_bytes, 0);
}

TEST(ResourceReport, ReportsTheMaximumOverATemplatesInstances) {
    const auto kernels = read_resource_report(report);
    EXPECT_EQ(kernels.at("k").registers, 12);
    EXPECT_EQ(kernels.at("k").spilled_bytes, 12);
}

TEST(ResourceReport, IgnoresOtherText) {
    EXPECT_TRUE(read_resource_report("").empty());
    EXPECT_TRUE(read_resource_report("Used 7 registers\nnvcc fatal : Unsupported gpu architecture").empty());
}

TEST(ResourceReport, ReadsAbbreviatedAndTruncatedNames) {
    std::string types = "St4pairIiiE", last = "_";  // each pair of pairs is twice as long
    for (const char digit : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        types += "S_IS" + last + "S" + last + "E";
        last = std::string(1, digit) + "_";
    }
    const auto name_in_report = [](const std::string& name) {
        return read_resource_report("Compiling entry function '" + name + "'\nUsed 7 registers\n").begin()->first;
    };
    EXPECT_EQ(name_in_report("_Z1f" + types), "f");
    EXPECT_EQ(name_in_report("_ZN2ns1kEv"), "k");
    EXPECT_EQ(name_in_report("_Z1k5Field"), "k") << "a parameter's type is not part of the name";
    EXPECT_EQ(name_in_report("plain"), "plain");
    for (const char* malformed : {"_Z", "_ZN", "_Z99999999999999999999f", "_Z9f", "_Z1", "_ZSt4pair"})
        EXPECT_EQ(name_in_report(malformed), malformed);
}

TEST(PlainKernelName, ReturnsOnlyTheName) {
    EXPECT_EQ(plain_kernel_name("sum_kernel"), "sum_kernel");
    EXPECT_EQ(plain_kernel_name("ours::sum_kernel<256, pair<int, int>>"), "sum_kernel");
    EXPECT_EQ(plain_kernel_name("void (anonymous namespace)::sum_kernel<4>(int (*)(int), float*)"), "sum_kernel");
    EXPECT_EQ(plain_kernel_name(""), "");
}

}  // namespace
}  // namespace warplab
