#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "grader/cpu/rewriter/condition.h"
#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string rewritten_body(const std::string& source) {
    const auto result = rewrite(source, "a.cu");
    if (!result.problems.empty()) return show_problems(result, "a.cu");
    return result.text.substr(result.text.find('\n') + 1);
}

std::string in_kernel(const std::string& body) { return "__global__ void k() {\n" + body + "}\n"; }
std::string in_both(const std::string& body) { return "__host__ __device__ int f() {\n" + body + "}\n"; }

std::optional<long long> value(const std::string& condition, View view) {
    const auto tokens = tokenize(condition);
    return evaluate_condition(tokens.data(), tokens.data() + tokens.size(), view);
}

TEST(Condition, IsEvaluatedAsByThePreprocessor) {
    for (const char* condition : {"1", "!0", "0x10 == 16", "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "3 > 2 && 2 >= 2",
                                  "0 || 1", "0 && UNKNOWN || 1", "UNKNOWN || 1", "-1 < 0", "7 / 2 % 2 == 1", "1 != 2UL",
                                  "defined __WARPLAB_CPU__", "defined(__WARPLAB_CPU__) && __WARPLAB_CPU__ == 1"})
        EXPECT_EQ(value(condition, View::host), 1) << condition;
    for (const char* condition : {"0", "UNKNOWN && 0", "!1", "2 < 1"}) EXPECT_EQ(value(condition, View::host), 0);
    for (const char* condition : {"", "UNKNOWN", "defined(UNKNOWN)", "1 +", "(1", "1 ? 2 : 3", "f(1)", "1 / 0", "1 2"})
        EXPECT_EQ(value(condition, View::host), std::nullopt) << condition;
    EXPECT_EQ(value(std::string(100000, '('), View::host), std::nullopt);
}

TEST(Condition, TheArchitectureIsDefinedInDeviceCodeOnly) {
    EXPECT_EQ(value("__CUDA_ARCH__", View::device), 900);
    EXPECT_EQ(value("__CUDA_ARCH__", View::host), 0);
    EXPECT_EQ(value("defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700", View::device), 1);
    EXPECT_EQ(value("defined __CUDA_ARCH__", View::host), 0);
}

TEST(Architecture, DeviceFunctionsGetTheDeviceBranch) {
    EXPECT_EQ(rewritten_body(in_kernel("#if __CUDA_ARCH__ >= 700\n a();\n#else\n b();\n#endif\n")),
              "__global__ void k() {WARPLAB_CPU_KERNEL(\"k\"){\n#if 900 >= 700\n a();\n#else\n b();\n#endif\n};}\n");
    EXPECT_THAT(rewritten_body(in_kernel("#ifdef __CUDA_ARCH__\n#endif\n")), HasSubstr("\n#if 1\n"));
    EXPECT_THAT(rewritten_body(in_kernel("#ifndef __CUDA_ARCH__\n#elif X && defined(__CUDA_ARCH__)\n a();\n#endif\n")),
                HasSubstr("\n#if 0\n#elif X && 1\n"));
    EXPECT_THAT(rewritten_body(in_kernel("int x = __CUDA_ARCH__;\n")), HasSubstr("int x = 900;"));
    EXPECT_THAT(rewritten_body("void f() { g([=] __device__ (int i) {\n#ifdef __CUDA_ARCH__\n a();\n#endif\n }); }"),
                HasSubstr("\n#if 1\n"));
}

TEST(Architecture, HostFunctionsGetTheHostBranch) {
    EXPECT_THAT(rewritten_body("int main() {\n#if defined(__CUDA_ARCH__)\n a();\n#else\n b();\n#endif\n}"),
                HasSubstr("{\n#if 0\n a();"));
    EXPECT_THAT(rewritten_body("struct A {\n void f() { if (x) {\n#if __CUDA_ARCH__ < 600\n a();\n#endif\n} } };"),
                HasSubstr("\n#if 0 < 600\n"));
}

TEST(Architecture, HostDeviceFunctionsBranchAtRunTime) {
    EXPECT_EQ(
        rewritten_body(in_both("#ifdef __CUDA_ARCH__\n return 1; // device\n#else\n return 0;\n#endif // host\n")),
        "__host__ __device__ int f() {\nif (::warplab_cpu::in_kernel()) { \n return 1; // device\n} else {\n"
        " return 0;\n} // host\n}\n");
    EXPECT_EQ(rewritten_body(in_both("#ifndef __CUDA_ARCH__\n a();\n#endif\n return 2;\n")),
              "__host__ __device__ int f() {\nif (!::warplab_cpu::in_kernel()) { \n a();\n}\n return 2;\n}\n");
    EXPECT_EQ(
        rewritten_body(in_both("#if __CUDA_ARCH__ >= 1000\n a();\n#elif defined(__CUDA_ARCH__)\n b();\n#else\n c();\n"
                               "#endif\n return __LINE__;\n")),
        "__host__ __device__ int f() {\n   \n\nif (::warplab_cpu::in_kernel()) { \n b();\n} else {\n c();\n}\n"
        " return __LINE__;\n}\n");
    EXPECT_THAT(rewritten_body(in_both("#ifdef __CUDA_ARCH__\n return __CUDA_ARCH__;\n#else\n return 0;\n#endif\n")),
                HasSubstr("return 900;"));
    EXPECT_THAT(rewritten_body(in_both("#if __CUDA_ARCH__ >= 0\n int x = 1; use(x);\n#endif\n")),
                HasSubstr("\n#if 900 >= 0\n"));
}

TEST(Architecture, OldWorkaroundsGetTheDeviceBranch) {
    const std::string add = "__device__ double add(double* p, double v) {\n return *p + v;\n}\n";
    EXPECT_THAT(rewritten_body("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n" + add + "#endif\n"),
                StartsWith("#if !1 || 900 >= 600\n#else\n"));
    EXPECT_THAT(rewritten_body("#if __CUDA_ARCH__ < 600\n" + add + "#endif\n"), StartsWith("#if 900 < 600\n"));
    EXPECT_THAT(rewritten_body("#ifdef __CUDA_ARCH__\n#define SYNC() __syncwarp()\n#else\n#define SYNC()\n#endif\n" +
                               in_kernel("SYNC();\n")),
                StartsWith("#if 1\n"));
    EXPECT_THAT(rewritten_body(in_kernel("#if __CUDA_ARCH__ < 700\n asm(\"trap;\");\n#endif\n")),
                HasSubstr("#if 900 < 700\n asm"));
}

TEST(Architecture, IsRefusedInCodeForHostAndDevice) {
    for (const std::string& source :
         {std::string("#ifdef __CUDA_ARCH__\ntypedef int T;\n#else\ntypedef float T;\n#endif\n"),
          std::string("#ifdef __CUDA_ARCH__\n#define N 1\n#else\n#define N 2\n#endif\nint a[N];\n"),
          std::string("#ifdef __CUDA_ARCH__\n#define N 1\n#else\n#define N 2\n#endif\n#define M N\n"),
          std::string("#ifdef __CUDA_ARCH__\n__constant__ int n = 1;\n#else\n__constant__ int n = 2;\n#endif\n"),
          std::string("#ifdef __CUDA_ARCH__\n__host__ __device__ int f() { return 1; }\n#endif\n"),
          std::string("#if X && defined(__CUDA_ARCH__)\nint x;\n#endif\n"),
          std::string("#ifdef __CUDA_ARCH__\nconstexpr int f() { return 1; }\n#endif\n")})
        EXPECT_THAT(rewritten_body(source), StartsWith("a.cu:1:1: error: __CUDA_ARCH__ is defined in device code only"))
            << source;
    for (const std::string body : {"#ifdef __CUDA_ARCH__\n int x = 1;\n#else\n int x = 2;\n#endif\n return x;\n",
                                   "#ifdef __CUDA_ARCH__\n return 1 +\n#else\n return 2 +\n#endif\n 3;\n",
                                   "#ifdef __CUDA_ARCH__\n if (a) {\n#else\n"
                                   " {\n#endif\n }\n",
                                   "#if X && defined(__CUDA_ARCH__)\n a();\n#endif\n"})
        EXPECT_THAT(rewritten_body(in_both(body)), StartsWith("a.cu:2:1: error: __CUDA_ARCH__")) << body;
    EXPECT_THAT(rewritten_body("#define OLD (__CUDA_ARCH__ < 700)\n"), StartsWith("a.cu:1:14: error: __CUDA_ARCH__"));
    EXPECT_THAT(rewritten_body("#undef X\n#define __CUDA_ARCH__ 700\n"), HasSubstr("__CUDA_ARCH__"));
    EXPECT_THAT(rewritten_body("int x = __CUDA_ARCH__;\n"), StartsWith("a.cu:1:9: error: __CUDA_ARCH__"));
}

}  // namespace
}  // namespace warplab::rewriter
