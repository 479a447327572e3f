// An error or a lack of memory is the program's fault unless the stage's reference has the same result.
#include "grader/judge/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "grader/judge/judge.h"
#include "grader/model/cause.h"
#include "tests/paths.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr auto honest = R"(
#include <unistd.h>
#include "labs/dot_product/lab.h"
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";
constexpr auto exits_before_main = "__attribute__((constructor)) static void begin() { _exit(2); }\n";
constexpr auto kills_itself =
    "#include <csignal>\n__attribute__((constructor)) static void begin() { kill(getpid(), SIGKILL); }\n";

/// Device memory that throws OutOfMemory if `too_little` returns true.
class ScarceMemory : public BufferMemory {
  public:
    explicit ScarceMemory(std::function<bool()> too_little) : too_little_(std::move(too_little)) {}
    std::unique_ptr<Region> allocate(std::size_t bytes) override {
        if (too_little_()) throw OutOfMemory("4096 bytes are not free");
        return memory_->allocate(bytes);
    }
    std::size_t free_bytes() const override { return memory_->free_bytes(); }

  private:
    std::function<bool()> too_little_;
    std::unique_ptr<BufferMemory> memory_ = make_file_memory(protocol::Transport::shared);
};

class CheckDataset : public testing::Test {
  protected:
    void SetUp() override {
        if (!fs::exists(test::build_folder() / "labs/dot_product/oracle.so")) GTEST_SKIP() << "oracles are not built";
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::unique_ptr<StageRun> run_of(const std::string& text) {
        const fs::path file = folder_ / "hand_in.cu";
        std::ofstream(file) << text;
        return judge_.make_ready(lab(), lab().stages.front(), file, Task{}).run;
    }
    std::unique_ptr<StageRun> with_memory(const StageRun& run, BufferMemory& memory) {
        return std::unique_ptr<StageRun>(
            new StageRun{run.lab, run.stage, run.oracle, run.backend, run.runner, run.policy, memory, run.host});
    }
    const Lab& lab() { return judge_.lab("dot_product"); }
    const Dataset& dataset() { return lab().dataset("warp"); }

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("check-{}", getpid());
    Judge judge_{{test::root_folder(), test::build_folder(), folder_}, Backend::cpu};
};

TEST_F(CheckDataset, ProgramThatImitatesARunnerThatCannotStartFails) {
    const auto run = run_of(std::string(honest) + exits_before_main);
    const Check check = check_dataset(*run, dataset());
    ASSERT_TRUE(check.failure);
    EXPECT_EQ(check.verdict, Verdict::failed);
    EXPECT_EQ(check.failure->cause, cause::exited);
    EXPECT_THAT(check.failure->message, HasSubstr("exit status 2 before the first call"));
    EXPECT_THAT(check.failure->hint, HasSubstr("constructor of a global object"));
}

TEST_F(CheckDataset, ErrorIsKeptIfTheReferenceGetsItToo) {
    const auto run = run_of(std::string(honest) + exits_before_main);
    run->reference = [&] { return run_of(std::string(honest) + exits_before_main + "// another file\n"); };
    const Check check = check_dataset(*run, dataset());
    ASSERT_TRUE(check.failure);
    EXPECT_EQ(check.verdict, Verdict::error);
    EXPECT_THAT(check.failure->message, HasSubstr("The stage's reference cannot be checked here either"));
}

TEST_F(CheckDataset, OutputOfAllSessionsTogetherIsBounded) {
    const auto run = run_of(std::string(honest) +
                            "#include <cstdio>\n__attribute__((constructor)) static void print() { for (int i = 0; i < "
                            "10000; ++i) puts(\"flood flood\"); fflush(stdout); }\n");
    for (int session = 0; session < 3; ++session) {
        EXPECT_EQ(check_dataset(*run, dataset()).verdict, Verdict::passed);
        run->end_session();
    }
    EXPECT_LT(run->output.size(), run->policy.limits.output_bytes + 1000);
    EXPECT_THAT(run->output, HasSubstr("flood\n"));
    EXPECT_THAT(run->output, HasSubstr("more, which are omitted"));
}

TEST_F(CheckDataset, LackOfMemoryIsAFailureIfTheReferenceHasEnough) {
    const auto compiled = run_of(honest);
    StageRun* program = nullptr;
    ScarceMemory memory([&] { return program && program->session; });
    const auto run = with_memory(*compiled, memory);
    program = run.get();
    run->reference = [&] { return with_memory(*compiled, memory); };
    const Check check = check_dataset(*run, dataset());
    ASSERT_TRUE(check.failure);
    EXPECT_FALSE(check.skipped);
    EXPECT_EQ(check.verdict, Verdict::failed);
    EXPECT_EQ(check.failure->cause, cause::out_of_memory);
    EXPECT_THAT(check.failure->message, HasSubstr("only while this program runs"));
}

TEST_F(CheckDataset, LackOfMemorySkipsTheDatasetIfTheReferenceDoesNotFitEither) {
    const auto compiled = run_of(honest);
    ScarceMemory memory([] { return true; });
    const auto run = with_memory(*compiled, memory);
    run->reference = [&] { return with_memory(*compiled, memory); };
    const Check check = check_dataset(*run, dataset());
    EXPECT_TRUE(check.skipped);
    EXPECT_THAT(check.skipped_why, HasSubstr("does not fit on this machine"));
    EXPECT_FALSE(check.failure);
}

TEST_F(CheckDataset, LargeScratchIsAFailureIfOnlyTheProgramAsksForIt) {
    const std::string with_large_scratch =
        std::string(honest) + "std::size_t dot_product_scratch_bytes(std::size_t) { return 512 << 20; }\n";
    const auto compiled = run_of(with_large_scratch), reference = run_of(honest);
    class Small : public ScarceMemory {
      public:
        Small() : ScarceMemory([] { return false; }) {}
        std::unique_ptr<Region> allocate(std::size_t bytes) override {
            if (bytes > 256 << 20) throw OutOfMemory("512 MB are not free");
            return ScarceMemory::allocate(bytes);
        }
    } memory;
    const auto run = with_memory(*compiled, memory);
    run->reference = [&] { return with_memory(*reference, memory); };
    const Check check = check_dataset(*run, dataset());
    ASSERT_TRUE(check.failure);
    EXPECT_EQ(check.failure->cause, cause::out_of_memory);
}

TEST_F(CheckDataset, KilledProgramFailsUnlessTheReferenceIsKilledToo) {
    const auto run = run_of(std::string(honest) + kills_itself);
    run->reference = [&] { return run_of(std::string(honest) + "// another file\n"); };
    const Check check = check_dataset(*run, dataset());
    EXPECT_EQ(check.verdict, Verdict::failed);
    ASSERT_TRUE(check.failure);
    EXPECT_EQ(check.failure->cause, cause::out_of_memory);

    run->reference = [&] { return run_of(std::string(honest) + kills_itself + "// another file\n"); };
    const Check on_a_full_machine = check_dataset(*run, dataset());
    EXPECT_EQ(on_a_full_machine.verdict, Verdict::error);
    ASSERT_TRUE(on_a_full_machine.failure);
    EXPECT_EQ(on_a_full_machine.failure->cause, cause::out_of_memory);
    EXPECT_THAT(on_a_full_machine.failure->message, HasSubstr("reference cannot be checked here either"));
}

}  // namespace
}  // namespace warplab
