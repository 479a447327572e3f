// Warnings about arrays that each thread has for itself, although their index depends on the thread. Other arrays get
// none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string warning_of(const std::string& body) {
    const auto rewritten = rewrite("__global__ void k(float* x, int n) { " + body + " }", "x.cu");
    EXPECT_EQ(show_problems(rewritten, "x.cu"), "") << body;
    return show_warnings(rewritten, "x.cu");
}

TEST(ThreadArrays, WarnsIfAnArrayIndexDependsOnTheThread) {
    for (const std::string body :
         {"float s[32]; s[threadIdx.x] = 1;", "int i; float s[32], t; i = threadIdx.x; s[i] = t;",
          "float s[2][32]; s[0][threadIdx.x + 1] = 1;", "float s[8]; if (n) { s[threadIdx.x / 32] = 1; }",
          "float s[9]; for (int b = threadIdx.x; b < 9; b += 3) s[b] = 0;",
          "const int lane = threadIdx.x % 32, next = lane + 1; float s[33]; s[next] = x[n];"})
        EXPECT_THAT(warning_of(body), HasSubstr("s is a separate array in each thread")) << body;
}

TEST(ThreadArrays, OtherArraysGetNoWarning) {
    for (const std::string body :
         {"__shared__ float s[32]; s[threadIdx.x] = 1;",
          "float s[4]; for (int k = 0; k < 4; ++k) s[k] = x[threadIdx.x];",
          "for (int k = threadIdx.x; k < 9; ++k) x[k] = 1; float s[4]; for (int k = 0; k < 4; ++k) s[k] = 1;",
          "int s[16]; for (int i = threadIdx.x; i < n; ++i) ++s[int(x[i]) / 16];",
          "int s[4]; const int first = 4 * threadIdx.x; for (int i = first; i < first + 4; ++i) s[i - first] = 1;",
          "float s[4]; s[threadIdx.x % 4] = 1;", "if (n) x[1] = 2; else x[threadIdx.x] = 0;",
          "__shared__ struct { float s[32]; } t; t.s[threadIdx.x] = 1;",
          "static constexpr float s[32] = {}; x[0] = s[threadIdx.x];"})
        EXPECT_THAT(warning_of(body), IsEmpty()) << body;
}

}  // namespace
}  // namespace warplab::rewriter
