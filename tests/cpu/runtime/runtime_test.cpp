// Builds the CUDA programs in this folder (programs.mk) and runs them. A correct program exits with status 0, and only
// the programs order, split and whole print their results. If the runtime must stop a program, the program's status
// page has the reason.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "grader/cpu/control.h"
#include "tests/cpu/runtime/programs.h"

namespace {

namespace fs = std::filesystem;
using warplab::Fault;
using warplab::StatusPage;

using warplab::test::build_programs, warplab::test::CommandResult, warplab::test::programs_folder, warplab::test::run;

bool is_installed(const char* program) { return run(std::string("command -v ") + program).status == 0; }

class CpuRuntime : public testing::Test {
  protected:
    static void SetUpTestSuite() { native_build_ = build_programs("native"); }
    void SetUp() override { ASSERT_EQ(native_build_.status, 0) << native_build_.output; }

    static std::string native(const std::string& program) {
        return "'" + (programs_folder() / "native" / program).string() + "'";
    }

    static CommandResult native_build_;
};
CommandResult CpuRuntime::native_build_;

/// Run one program in both orders and with several pool sizes.
void expect_right(const std::string& program) {
    for (const char* threads : {"1", "2", "7"})
        for (const char* order : {"forward", "backward"}) {
            const CommandResult result = run(std::string("WARPLAB_THREADS=") + threads + " " + program + " " + order);
            EXPECT_EQ(result.status, 0) << threads << " threads, " << order << "\n" << result.output.substr(0, 2000);
            EXPECT_EQ(result.output, "");
        }
}

TEST_F(CpuRuntime, RunsKernels) { expect_right(native("kernels")); }
TEST_F(CpuRuntime, HasCooperativeGroups) { expect_right(native("groups")); }
TEST_F(CpuRuntime, HasLibcudacxx) { expect_right(native("libcudacxx")); }
TEST_F(CpuRuntime, HasCubsCollectives) { expect_right(native("cub")); }
TEST_F(CpuRuntime, HasTheHostFunctions) { expect_right(native("host")); }
TEST_F(CpuRuntime, HasArithmeticFunctionsAndVectorTypes) { expect_right(native("arithmetic")); }
TEST_F(CpuRuntime, HasGraphs) { expect_right(native("graphs")); }
TEST_F(CpuRuntime, HasHalvesAndBfloat16) { expect_right(native("half")); }

TEST_F(CpuRuntime, SplitKernelsComputeTheSameAsWholeOnes) {
    std::ifstream file(programs_folder() / "split.cpp");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_NE(text.find("WARPLAB_CPU_SPLIT_KERNEL("), std::string::npos);
    EXPECT_EQ(text.find("WARPLAB_CPU_KERNEL("), std::string::npos) << "a kernel is not split";
    for (const char* threads : {"1", "3"})
        for (const char* order : {" forward", " backward"}) {
            const std::string setting = std::string("WARPLAB_THREADS=") + threads + " ";
            const CommandResult split = run(setting + native("split") + order),
                                whole = run(setting + native("whole") + order);
            EXPECT_EQ(split.status, 0);
            EXPECT_EQ(split.output, whole.output) << setting << order;
            EXPECT_GE(std::count(whole.output.begin(), whole.output.end(), '\n'), 30);
        }
}

TEST_F(CpuRuntime, BackwardOrderBeginsAtTheEndAndShowsAMissingBarrier) {
    const auto words = [](const std::string& text) {
        std::istringstream in(text);
        std::string name, right, missing, last, first;
        in >> name >> right >> name >> missing >> name >> last >> name >> first;
        return std::vector<std::string>{right, missing, last, first};
    };
    const auto forward = words(run("WARPLAB_THREADS=1 " + native("order") + " forward").output);
    const auto backward = words(run("WARPLAB_THREADS=1 " + native("order") + " backward").output);
    EXPECT_NE(forward[0], "");
    EXPECT_EQ(forward[0], backward[0]);
    EXPECT_NE(forward[1], backward[1]);
    EXPECT_NE(forward[0], forward[1]);
    EXPECT_EQ(forward[2], "63");
    EXPECT_EQ(backward[2], "0");
    EXPECT_EQ(forward[3], "0");
    EXPECT_EQ(backward[3], "99");
}

// Programs that must stop

struct Case {
    const char* program;
    Fault fault;
    const char* kernel;  // the kernel launched last; "" if there is none
    int thread;          // -1: any
    const char* detail;  // part of the message
    bool in_kernel = true;
    const char* place = "";  // part of the source line of the program counter
};

const Case cases[] = {
    {"overrun", Fault::segmentation, "overrun_kernel", 7, "just past the end of memory from cudaMalloc", true,
     "+ beyond] = 1"},
    {"kept_overrun", Fault::past_earlier, "overrun_kernel", 7, "memory that was allocated before this call", true,
     "+ beyond] = 1"},
    {"null", Fault::null_pointer, "null_kernel", 3, "null pointer", true, "out[0] = 1"},
    {"host_null", Fault::null_pointer, "", -1, "null pointer", false, "host_null"},
    {"host_writes_device", Fault::segmentation, "", -1, "host code used a pointer to device memory", false,
     "memory[3] = 1"},
    {"host_writes_device_after_many_launches", Fault::segmentation, "plain_kernel", -1,
     "host code used a pointer to device memory", false, "memory[3] = 1"},
    {"kernel_writes_host", Fault::host_memory, "plain_kernel", 0, "a kernel used host memory"},
    {"free_device", Fault::wrong_free, "", -1, "was passed to free() or delete: cudaFree frees it", false, "free("},
    {"c_library_reads_device", Fault::segmentation, "", -1, "a pointer to device memory in memcpy(), free()", false,
     "strlen("},
    {"copy_into_null", Fault::null_pointer, "", -1, "null pointer", false, "memset"},
    {"below_the_stack", Fault::segmentation, "", -1, "", false, "[-4096] = 1"},
    {"dive", Fault::stack_overflow, "dive_kernel", 0, "stack", true},
    {"dive_in_fiber", Fault::stack_overflow, "dive_in_fiber_kernel", 40, "stack", true},
    {"dive_on_host", Fault::stack_overflow, "", -1, "stack", false},
#if defined(__x86_64__)
    {"never_set", Fault::unset_pointer, "", -1, "a pointer was never set", false, "*pointer = 1"},
    {"divide", Fault::arithmetic, "divide_kernel", 4, "divided by zero", true, "divide_kernel(int* out"},
#endif
    {"assert", Fault::aborted, "assert_kernel", 20, "assertion `int(threadIdx.x) < n' failed at faults.cu:"},
    {"trap", Fault::refused, "trap_kernel", 9, "__trap()"},
    {"abort", Fault::aborted, "", -1, "abort() was called", false},
    {"half_barrier", Fault::deadlock, "half_barrier_kernel", -1, "32 returned"},
    {"lost_lane", Fault::deadlock, "lost_lane_kernel", -1, "31 of 32 threads wait at line "},
    {"spin", Fault::hang, "spin_kernel", -1,
     "in block (0,0,0), 10 of 64 threads keep retrying the same operation, 54 wait at line", true,
     "atomicCAS(&flag, 1"},
    {"later_block", Fault::hang_before_later, "later_block_kernel", -1, "only after this one has ended"},
    {"kept_lock", Fault::hang, "kept_lock_kernel", -1, "60 of 64 threads keep retrying the same operation, 4 returned",
     true, "atomicCAS(&lock_word"},
    {"lone_spin", Fault::hang, "lone_spin_kernel", -1, "all other blocks have ended or wait, too", true,
     "atomicCAS(out"},
    {"hidden_spin", Fault::hang, "lone_spin_kernel", -1, "memory no longer changes"},
    {"foreign_mask", Fault::refused, "foreign_mask_kernel", 0, "mask does not include it"},
    {"exit", Fault::exited, "", -1, "exit()", false},
    {"exit_in_kernel", Fault::exited, "exit_kernel", 1, "exit()"},
    {"throw", Fault::aborted, "throw_kernel", 1, "abort() was called"},
    {"much_shared", Fault::too_much_shared, "much_shared_kernel", 0, "take 49156 bytes, 49152 are allowed"},
    {"shared_in_all", Fault::too_much_shared, "some_shared_kernel", 0,
     "take 16384 bytes and the launch requests 40000; together, at most 49152"},
    {"nesting", Fault::refused, "nesting_kernel", 0, "launched from a kernel"},
    {"no_launch", Fault::refused, "", -1, "plain_kernel was called without <<<grid, block>>>", false},
    {"no_kernel", Fault::refused, "", -1, "function is launched with <<< >>>, but is not a __global__", false},
    {"grid_sync_in_plain_launch", Fault::refused, "grid_sync_kernel", -1,
     "start the kernel with cudaLaunchCooperativeKernel"},
    {"grid_sync_without_all_blocks", Fault::deadlock, "grid_sync_kernel", -1,
     "3 of 4 blocks wait in grid.sync() at line"},
    {"host_limit", Fault::host_limit, "", -1, "120 bytes were copied to the host in one call, 100 are allowed", false},
    {"managed_limit", Fault::host_limit, "plain_kernel", -1, "4096 bytes were copied to the host", false},
};

std::string line_of(const std::string& program, std::uint64_t program_counter) {
    char address[32];
    snprintf(address, sizeof(address), "%#llx", static_cast<unsigned long long>(program_counter));
    const std::string places = run("addr2line -i -e " + program + " " + address).output;  // a line each: …/faults.cu:15
    const auto file = places.find("faults.cu:"), colon = places.find(':', file);
    if (file == std::string::npos) return places;
    std::ifstream source(warplab::test::root_folder() / "tests/cpu/runtime/faults.cu");
    std::string line;
    for (int lines_left = std::atoi(places.c_str() + colon + 1); lines_left > 0; --lines_left)
        std::getline(source, line);
    return line;
}

struct FaultReport {
    CommandResult command;
    StatusPage page{};
};

FaultReport run_fault(const std::string& runner, const std::string& program, const char* name) {
    const fs::path file = fs::path(testing::TempDir()) / ("warplab-page-" + std::to_string(getpid()));
    fs::remove(file);
    FaultReport report;
    report.command = run(runner + program + " " + name + " '" + file.string() + "'");
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&report.page), sizeof(StatusPage));
    fs::remove(file);
    return report;
}

void expect_fault(const Case& expected, const FaultReport& report, const std::string& program) {
    const StatusPage& page = report.page;
    EXPECT_EQ(report.command.status, warplab::cpu::fault_status + static_cast<int>(expected.fault));
    EXPECT_EQ(page.fault, static_cast<std::uint32_t>(expected.fault));
    EXPECT_STREQ(page.kernel, expected.kernel);
    EXPECT_EQ(page.launch_line > 0, *expected.kernel != 0);
    EXPECT_EQ(page.in_kernel != 0, expected.in_kernel);
    if (expected.thread >= 0) {
        EXPECT_EQ(page.thread[0], static_cast<std::uint32_t>(expected.thread));
    }
    EXPECT_NE(std::string(page.detail).find(expected.detail), std::string::npos) << page.detail;
    if (*expected.place && is_installed("addr2line")) {
        const std::string line = line_of(program, page.program_counter);
        EXPECT_NE(line.find(expected.place), std::string::npos) << line;
    }
}

class CpuRuntimeFault : public CpuRuntime, public testing::WithParamInterface<Case> {};

TEST_P(CpuRuntimeFault, IsInTheStatusPage) {
    expect_fault(GetParam(), run_fault("", native("faults"), GetParam().program), native("faults"));
}
INSTANTIATE_TEST_SUITE_P(All, CpuRuntimeFault, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.program); });

TEST_F(CpuRuntime, TheFaultsBlockIsInTheStatusPage) {
    EXPECT_EQ(run_fault("", native("faults"), "overrun").page.block[0], 5u);
}

TEST_F(CpuRuntime, NamesWaitingThreadsWithTheirPlaces) {
    const std::string detail = run_fault("", native("faults"), "half_barrier").page.detail;
    int first = 0, second = 0, third = 0;
    const int read =
        sscanf(detail.c_str(), "96 of 192 threads wait at line %d, 62 wait at line %d, 2 wait at line %d, 32 returned",
               &first, &second, &third);
    EXPECT_EQ(read, 3) << detail;
    EXPECT_EQ(second, first + 2);
    EXPECT_EQ(third, first + 3);
}

TEST_F(CpuRuntime, DoesNotStopAWaitInWhichOnlyRegistersChange) {
    const FaultReport report = run_fault("", native("faults"), "mail");
    EXPECT_EQ(report.command.status, 0) << report.page.detail;
}

TEST_F(CpuRuntime, LetsKernelsUseRegisteredHostMemory) {
    const FaultReport report = run_fault("", native("faults"), "kernel_writes_registered_host");
    EXPECT_EQ(report.command.status, 0) << report.page.detail;
}

TEST_F(CpuRuntime, LetsAGridWaitForAHostThread) {
    const FaultReport report = run_fault("", native("faults"), "doorbell");
    EXPECT_EQ(report.command.status, 0) << report.page.detail;
}

TEST_F(CpuRuntime, CopiesMemoryThatLaunchesLeftVisible) {
    const FaultReport report = run_fault("", native("faults"), "copies_after_many_launches");
    EXPECT_EQ(report.command.status, 0) << report.page.detail;
}

TEST_F(CpuRuntime, AllowsMoreSharedMemoryThatWasAskedFor) {
    EXPECT_EQ(run_fault("", native("faults"), "shared_in_all_allowed").page.fault, 0u);
}

TEST_F(CpuRuntime, LetsACorrectProgramEnd) {
    const FaultReport report = run_fault("", native("faults"), "ends");
    EXPECT_EQ(report.command.status, 0);
    EXPECT_EQ(report.page.fault, 0u);
}

// The same on aarch64, whose thread-local storage is on the other side of the thread pointer

class CpuRuntimeOnArm : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (can_run()) cross_build_ = build_programs("cross");
    }
    void SetUp() override {
        if (!can_run()) GTEST_SKIP() << "needs WARPLAB_THOROUGH=1 and the packages g++-aarch64-linux-gnu and qemu-user";
        ASSERT_EQ(cross_build_.status, 0) << cross_build_.output;
    }
    static bool can_run() {
        return std::getenv("WARPLAB_THOROUGH") && is_installed("aarch64-linux-gnu-g++") && is_installed("qemu-aarch64");
    }
    static std::string cross(const std::string& program) {
        return "'" + (programs_folder() / "cross" / program).string() + "'";
    }

    static constexpr const char* qemu = "qemu-aarch64 -L /usr/aarch64-linux-gnu ";
    static CommandResult cross_build_;
};
CommandResult CpuRuntimeOnArm::cross_build_;

TEST_F(CpuRuntimeOnArm, RunsTheSamePrograms) {
    for (const char* program : {"kernels", "groups", "libcudacxx", "cub", "host", "arithmetic", "half", "graphs"})
        for (const char* order : {"forward", "backward"}) {
            const CommandResult result = run("WARPLAB_THREADS=2 " + std::string(qemu) + cross(program) + " " + order);
            EXPECT_EQ(result.status, 0) << program << " " << order << "\n" << result.output.substr(0, 2000);
        }
}

TEST_F(CpuRuntimeOnArm, ReportsFaults) {
    for (const Case& expected : cases) {
        if (expected.fault == Fault::arithmetic) continue;           // on aarch64, an integer divided by zero is 0
        if (std::string(expected.program) == "never_set") continue;  // qemu does not report the address
        SCOPED_TRACE(expected.program);
        expect_fault(expected, run_fault(qemu, cross("faults"), expected.program), cross("faults"));
    }
}

}  // namespace
