#include "grader/judge/ending.h"

#include <gtest/gtest.h>

#include "grader/core/cause.h"

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

TEST(Ending, ByExitQuotesWhatWasPrintedLast) {
    const Ended ended = with_status(2, "counting\nrunner: cannot open the memory\n");
    const StatusPage page = in_a_call();
    const Failure failure = explain_end({ended, page, ""});
    EXPECT_EQ(failure.cause, cause::exited);
    EXPECT_NE(failure.message.find("exit status 2"), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("printed: runner: cannot open the memory"), std::string::npos) << failure.message;
}

TEST(Ending, ByExitIsNotQuotedWhereNothingWasPrinted) {
    const Ended ended = with_status(0, "");
    const StatusPage page = in_a_call();
    EXPECT_EQ(explain_end({ended, page, ""}).message.find("printed"), std::string::npos);
}

TEST(Ending, BeforeAnyStudentsCodeIsNotTheStudentsFault) {
    const Ended ended = with_status(2, "runner: no such memory\n");
    const StatusPage page{};
    EXPECT_EQ(explain_end({ended, page, ""}).cause, cause::internal);
}

}  // namespace
}  // namespace warplab
