#include "grader/judge/run/ending.h"

#include <gtest/gtest.h>

#include <cstring>

#include "grader/model/cause.h"

namespace warplab {
namespace {

Ended with_status(int status, std::string output) {
    Ended ended{};
    ended.how = End::exited;
    ended.status = status;
    ended.output = std::move(output);
    return ended;
}

StatusPage in_a_call() {
    StatusPage page{};
    page.phase = static_cast<std::uint32_t>(Phase::call);
    return page;
}

TEST(Ending, ByExitQuotesTheLastOutput) {
    const Ended ended = with_status(2, "counting\nrunner: cannot open the memory\n");
    const StatusPage page = in_a_call();
    const Failure failure = explain_end({ended, page, ""});
    EXPECT_EQ(failure.cause, cause::exited);
    EXPECT_NE(failure.message.find("exit status 2"), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("Its last output: runner: cannot open the memory"), std::string::npos)
        << failure.message;
}

TEST(Ending, ByTimeoutOfAGridWithProgressIsNotCalledAnEndlessLoop) {
    Ended ended{};
    ended.how = End::timed_out;
    const StatusPage page = in_a_call();
    EXPECT_NE(explain_end({ended, page, "", 5}).hint.find("Does every loop end?"), std::string::npos);
    EXPECT_NE(explain_end({ended, page, "", 5}).hint.find("an index that wraps around"), std::string::npos);
    ended.made_progress = true;
    const Failure failure = explain_end({ended, page, "", 5});
    EXPECT_EQ(failure.cause, cause::timeout);
    EXPECT_NE(failure.message.find("No answer after 15 s"), std::string::npos) << failure.message;
    EXPECT_NE(failure.hint.find("gridDim.x * blockDim.x"), std::string::npos) << failure.hint;
}

TEST(Ending, ByTimeoutAfterManyLaunchesNamesTheLoopOnTheHost) {
    Ended ended{};
    ended.how = End::timed_out;
    StatusPage page = in_a_call();
    page.call_launches = 41000;
    page.launch_line = 62;
    const Failure failure = explain_end({ended, page, "", 5});
    EXPECT_EQ(failure.cause, cause::timeout);
    EXPECT_NE(failure.message.find("had launched 41,000 kernels by then"), std::string::npos) << failure.message;
    EXPECT_NE(failure.hint.find("Does the loop on the host around line 62 end?"), std::string::npos) << failure.hint;
}

TEST(Ending, ByAFaultOfAKernelOutsideTheFileNamesLocalArrays) {
    Ended ended{};
    StatusPage page = in_a_call();
    page.fault = static_cast<std::uint32_t>(Fault::null_pointer);
    page.in_kernel = 1;
    page.program_counter = 0x1234;
    const auto hint_for = [&](const char* line) { return explain_end({ended, page, line}).hint; };
    EXPECT_NE(hint_for("").find("No line of the file made this access"), std::string::npos);
    EXPECT_NE(hint_for("a.cu:3").find("Was memory allocated for it"), std::string::npos);
}

TEST(Ending, ByExitWithoutOutputQuotesNothing) {
    const Ended ended = with_status(0, "");
    const StatusPage page = in_a_call();
    EXPECT_EQ(explain_end({ended, page, ""}).message.find("Its last output"), std::string::npos);
}

TEST(Ending, BeforeTheFirstCallCanBeTheJudgesFault) {
    const Ended ended = with_status(2, "runner: no such memory\n");
    const StatusPage page{};
    const Failure failure = explain_end({ended, page, ""});
    EXPECT_EQ(failure.cause, cause::internal);
    EXPECT_NE(failure.message.find("exit status 2 before the first call"), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("runner: no such memory"), std::string::npos) << failure.message;
}

TEST(Ending, BeforeTheFirstCallWithAnotherStatusIsTheProgramsFault) {
    const Ended ended = with_status(3, "");
    const StatusPage page{};
    EXPECT_EQ(explain_end({ended, page, ""}).cause, cause::exited);
}

Failure faulted(Fault fault, const char* detail, bool launched = false) {
    const Ended ended = with_status(1, "");
    StatusPage page = in_a_call();
    page.fault = static_cast<std::uint32_t>(fault);
    page.address = 1 << 20;
    page.launches = launched;
    std::strncpy(page.detail, detail, sizeof page.detail - 1);
    return explain_end({ended, page, ""});
}

TEST(Ending, ByAFaultHasTheFaultsHint) {
    EXPECT_NE(faulted(Fault::aborted, "abort() was called").hint.find("An assert(), abort()"), std::string::npos);
    EXPECT_EQ(faulted(Fault::refused, "kernel k was called without <<<grid, block>>>").hint, "");
    EXPECT_NE(
        faulted(Fault::too_much_shared, "the kernel's __shared__ variables take 74304 bytes").hint.find("smaller"),
        std::string::npos);
    EXPECT_EQ(faulted(Fault::no_memory, "no memory for the threads' stacks").cause, cause::out_of_memory);
    EXPECT_NE(faulted(Fault::segmentation, "").hint.find("Host code must not use a device pointer"), std::string::npos);
    EXPECT_NE(faulted(Fault::segmentation, "", true).hint.find("must not exceed its __shared__"), std::string::npos);
    EXPECT_NE(faulted(Fault::unset_pointer, "a pointer was never set").hint.find("Set it before"), std::string::npos);
}

Failure check_failed(int status, const Circumstances& circumstances) {
    const Ended ended = with_status(status, "file.cu:3: cudaGetLastError() failed\n");
    const StatusPage page = in_a_call();
    return explain_end({ended, page, "", 0, {}, 0, circumstances});
}

TEST(Ending, ByCudaCheckHasTheHintOfItsExitStatus) {
    EXPECT_EQ(check_failed(90, {}).cause, cause::cuda_error);
    EXPECT_EQ(check_failed(90, {}).hint, "");
    EXPECT_NE(check_failed(92, {}).hint.find("never freed"), std::string::npos);
    EXPECT_EQ(check_failed(93, {}).cause, cause::launch_failed);
    EXPECT_EQ(check_failed(94, {}).cause, cause::cuda_error);
    EXPECT_EQ(check_failed(94, {"n", 0}).cause, cause::launch_failed);
    EXPECT_EQ(check_failed(94, {"n", 0}).hint.find("n is 0 here"), 0u);
}

TEST(Ending, ARefusalHasTheHintOfItsError) {
    protocol::Answer answer{};
    answer.cuda_error = 9;
    EXPECT_EQ(explain_refusal(answer, StatusPage{}, Circumstances{}).cause, cause::launch_failed);
    EXPECT_EQ(explain_refusal(answer, StatusPage{}).cause, cause::cuda_error);
    answer.cuda_error = 700;
    EXPECT_NE(explain_refusal(answer, StatusPage{}, Circumstances{}).hint.find("make sanitize"), std::string::npos);
}

TEST(Ending, TooMuchCopiedToTheHostHasTheHintOfTheStage) {
    EXPECT_NE(host_work_hint(0).find("belongs on the device"), std::string::npos);
    EXPECT_NE(host_work_hint(8).find("allows 8 bytes per iteration"), std::string::npos);
}

}  // namespace
}  // namespace warplab
