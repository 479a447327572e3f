// Warnings about swapped arguments, `x % 2 * n == 0` and #pragma unroll without a loop. Similar code gets none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string warnings_about(const std::string& text) {
    const auto rewritten = rewrite(text, "x.cu");
    EXPECT_EQ(show_problems(rewritten, "x.cu"), "") << text;
    return show_warnings(rewritten, "x.cu");
}

std::string warnings_in_kernel(const std::string& body) {
    return warnings_about("__global__ void k(float* x, int n) { " + body + " }");
}

std::string with_functions(const std::string& body) {
    return "template <int m> __global__ void fill(float* out, int columns, int rows) { out[columns * m + rows] = 1; }\n"
           "float area(std::pair<int, int> p, unsigned width, unsigned height);\n"
           "void swap_buffers(float* current, float* next, int n);\n"
           "int larger(int a, int b) { return a > b ? a : larger(b, a); }\n"
           "void f(float* out, int rows, int columns, int width, int height) {\n" +
           body + "\n}\n";
}

TEST(SuspiciousCode, WarnsIfArgumentsHaveTheNamesOfEachOthersParameters) {
    EXPECT_THAT(warnings_about(with_functions("fill<3><<<dim3(1, 2), (rows > 2), 0>>>(out, rows, columns);")),
                HasSubstr("x.cu:6:1: warning: rows is passed as columns, and columns as rows"));
    EXPECT_THAT(warnings_about(with_functions("area({1, 2}, height, width);")),
                HasSubstr("warning: height is passed as width, and width as height"));
}

TEST(SuspiciousCode, OtherArgumentsGetNoWarning) {
    for (const std::string body :
         {"fill<3><<<1, 2>>>(out, columns, rows);", "fill<3><<<1, 2>>>(out, rows + 1, columns);",
          "fill<3><<<1, 2>>>(out, rows, rows);", "area({1, 2}, width, height); area({1, 2}, height, width);",
          "area({rows, columns}, 1, 2);", "float *next, *current; swap_buffers(next, current, 3);",
          "out.area(height, width);", "int a, b; a = larger(a, b);"})
        EXPECT_THAT(warnings_about(with_functions(body)), IsEmpty()) << body;
    EXPECT_THAT(warnings_about("void g(int a, int b); void g(float b, float a); void f(int a, int b) { g(b, a); }"),
                IsEmpty());
}

TEST(SuspiciousCode, WarnsIfAProductThatBeginsWithARemainderIsCompared) {
    EXPECT_THAT(warnings_in_kernel("if (threadIdx.x % 2 * n == 0) x[0] = 1;"),
                HasSubstr("x.cu:1:54: warning: this is (threadIdx.x % 2) * n; for the remainder by the product, write "
                          "threadIdx.x % (2 * n)"));
    EXPECT_THAT(warnings_in_kernel("bool b = n > 3 && (n + 1) % 2 * blockDim.x * 4 != 0; x[b] = 1;"),
                HasSubstr("write (n + 1) % (2 * blockDim.x * 4)"));
    EXPECT_THAT(warnings_in_kernel("if (!(n % 4 * n)) x[0] = 1;"), HasSubstr("(n % 4) * n"));
}

TEST(SuspiciousCode, OtherRemaindersGetNoWarning) {
    for (const std::string body :
         {"if (n % (2 * n) == 0) x[0] = 1;", "x[n % 4 * n] = 1;", "if (n % 4 * n == 3) x[0] = 1;", "n %= 4 * n;",
          "if (n % 4 == 0) x[0] = 1;", "if (1 + n % 4 * n == 0) x[0] = 1;", "if (n % 4 * n < 0) x[0] = 1;",
          "if (x[n % 4 * n] == 0) x[0] = 1;", "if (n * n % 4 == 0) x[0] = 1;"})
        EXPECT_THAT(warnings_in_kernel(body), IsEmpty()) << body;
}

TEST(SuspiciousCode, WarnsAboutUnrollWithoutALoop) {
    EXPECT_THAT(warnings_in_kernel("\n#pragma unroll 4\nn = 3; for (int i = 0; i < n; ++i) x[i] = 1;"),
                HasSubstr("x.cu:2:9: warning: #pragma unroll has no effect here: it must be directly before a loop"));
    for (const std::string body :
         {"\n#pragma unroll\nfor (int i = 0; i < n; ++i) x[i] = 1;", "\n#pragma unroll 1\n// a loop\nwhile (n) --n;",
          "\n#pragma unroll\ndo --n; while (n);", "\n#if 0\n#pragma unroll\n#endif\nn = 3;",
          "\n#define LOOP for (;;)\n#pragma unroll\nLOOP { x[0] = 3; }", "\n#pragma once\nn = 3;"})
        EXPECT_THAT(warnings_in_kernel(body), IsEmpty()) << body;
}

}  // namespace
}  // namespace warplab::rewriter
