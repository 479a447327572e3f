// Warnings about counting loops and ifs whose body is a semicolon. Other loops and ifs get none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string warnings_of(const std::string& body) {
    const auto rewritten = rewrite("__global__ void k(float* x, int n) { " + body + " }", "x.cu");
    EXPECT_EQ(show_problems(rewritten, "x.cu"), "") << body;
    return show_warnings(rewritten, "x.cu");
}

TEST(EmptyLoops, WarnsIfALoopThatCountsHasNoBody) {
    EXPECT_THAT(warnings_of("int i = 3; for (; i < n; i += 32); x[i] = 1;"),
                HasSubstr("x.cu:1:71: warning: this ; is the whole body of the loop"));
    EXPECT_THAT(warnings_of("for (std::size_t i = std::size_t{blockIdx.x} * 32; i < n; ++i);"),
                HasSubstr("whole body"));
    EXPECT_THAT(warnings_of("for (int i = threadIdx.x + f(n); i < n; ++i) ; { x[0] = 1; }"), HasSubstr("whole body"));
}

TEST(EmptyLoops, OtherLoopsGetNoWarning) {
    for (const std::string body :
         {"for (int i = 0; i < n; ++i) x[i] = 1;", "for (int i = 0; i < n; x[i++] = 1);",
          "int i = 0; for (; x[i]; ++i);", "for (int i = 0; i < n; f(i++));", "for (;;);", "for (int i = 0; i < n;);",
          "while (n > 3);", "for (float* p = x; *p > 0; ++p);", "for (auto f = [](int) { return 1; }; n < 3; ++n);",
          "int i = 0; do ++i; while (i < n);"})
        EXPECT_THAT(warnings_of(body), IsEmpty()) << body;
}

TEST(EmptyLoops, WarnsIfAnIfHasNoBody) {
    EXPECT_THAT(warnings_of("if (threadIdx.x < n); x[n] = 1;"),
                HasSubstr("warning: this ; is the whole body of the if"));
    for (const std::string body : {"if (n > 3) x[0] = 1;", "if (n > 3); else x[0] = 1;", "if (n > 3) {} x[0] = 1;"})
        EXPECT_THAT(warnings_of(body), IsEmpty()) << body;
}

}  // namespace
}  // namespace warplab::rewriter
